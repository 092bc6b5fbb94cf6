"""Every page answers a member, and only a member."""

import re

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from tests.cast import PASSWORD, Cast

PAGES = (
    "/inbox",
    "/inbox?tab=pending",
    "/inbox?tab=unknown",
    "/inbox?tab=decided",
    "/runs",
    "/tools",
    "/workflows",
    "/settings",
    "/settings/keys",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_member_sees_the_page_and_a_stranger_the_sign_in(cast: Cast, page: str) -> None:
    client = Client()
    assert client.get(page).headers["Location"].startswith("/account/login/")
    client.force_login(cast.bob.user, "django.contrib.auth.backends.ModelBackend")
    answer = client.get(page)
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")


def test_a_person_signs_in_by_e_mail_and_password(cast: Cast) -> None:
    client = Client()
    answer = client.post("/account/login/", {"login": cast.bob.user.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/"
    assert client.get("/inbox").status_code == 200


def test_a_password_kept_in_an_older_way_still_signs_in_and_is_kept_anew(cast: Cast) -> None:
    user = cast.bob.user
    user.password = make_password(PASSWORD, hasher="pbkdf2_sha256")
    user.save(update_fields=["password"])
    answer = Client().post("/account/login/", {"login": user.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/"
    user.refresh_from_db()
    assert user.password.startswith("scrypt$")


def test_the_bare_address_leads_to_the_inbox_and_keeps_what_was_asked(cast: Cast) -> None:
    client = cast.bob.signed_in()
    assert client.get("/").headers["Location"] == "/inbox"
    assert client.get("/?tab=decided&q=a%26b").headers["Location"] == "/inbox?tab=decided&q=a%26b"


def test_nobody_signs_up(cast: Cast) -> None:
    assert b"There is no sign-up" in Client().get("/account/signup/").content


def test_a_forgotten_password_is_no_dead_end(cast: Cast) -> None:
    client = Client()
    assert b"/account/password/reset/" in client.get("/account/login/").content
    answer = client.get("/account/password/reset/")
    assert b"manage.py changepassword" in answer.content
    assert client.post("/account/password/reset/", {"email": cast.bob.user.email}).status_code == 405


def test_the_palette_offers_only_what_the_member_may_open(cast: Cast) -> None:
    for person, places in ((cast.carol, 1), (cast.bob, 0)):
        client = person.signed_in()
        palette = client.get("/inbox").content.decode().split("data-palette")[1].split("</dialog>")[0]
        assert palette.count("Start a run") == places
        assert palette.count("Administration") == places
        links = re.findall(r'<li><a href="([^"]+)"', palette)
        assert {client.get(link).status_code for link in links if not link.startswith("/admin")} == {200}
