"""Every page answers a member, and only a member."""

import pytest
from django.test import Client

from tests.cast import PASSWORD, Cast

PAGES = (
    "/inbox",
    "/inbox?tab=pending",
    "/inbox?tab=unknown",
    "/inbox?tab=decided",
    "/runs",
    "/tools",
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


def test_nobody_signs_up(cast: Cast) -> None:
    assert b"There is no sign-up" in Client().get("/account/signup/").content
