"""Clients introduce themselves by the address of a document about them, which is read with care."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from django.core.cache import cache
from django.test import Client
from oauth2_provider.models import Application
from pytest_django import Settings

from tests.cast import Cast
from tests.oauth.party import Outside, text
from tests.oauth.publisher import Host, publishing


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Host]:
    """A publisher that is trusted, and excepted by the operator."""
    certificate = tmp_path / "localhost.pem"
    with publishing(certificate) as host:
        trusting = ssl.create_default_context(cafile=str(certificate))
        monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: trusting)
        settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = f"localhost:{host.port}"
        cache.clear()
        yield host


def test_a_client_whose_document_was_read_is_shown_with_the_host_that_publishes_it(host: Host, cast: Cast) -> None:
    page = _browser(cast).get(_asking(host.address))
    assert page.status_code == 200
    seen = text(page.content.decode())
    assert "Published wants to act for you" in seen
    assert "checked Its description was read from localhost" in seen
    assert "form-action 'self' http://*:9000;" in page.headers["Content-Security-Policy"]
    _browser(cast).get(_asking(host.address))
    assert host.read == ["/agent.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "https://elsewhere.example/agent.json"},
        {"redirect_uris": ["http://intranet.example/cb"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": []},
        {"redirect_uris": "http://[::1]:9000/cb"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"client_secret": "x"},
        {"grant_types": ["implicit"]},
        {"client_name": "x" * 101},
        {"client_name": "x\u202ey"},
        {"padding": "x" * 20_000},
    ],
)
def test_a_document_that_breaks_a_rule_makes_no_client(host: Host, cast: Cast, change: dict[str, Any]) -> None:
    host.document |= change
    assert _browser(cast).get(_asking(host.address)).status_code == 400
    assert host.read == ["/agent.json"]
    assert not Application.objects.filter(client_id=host.address).exists()


def test_a_page_is_no_document(host: Host, cast: Cast) -> None:
    host.kind = "text/html"
    assert _browser(cast).get(_asking(host.address)).status_code == 400


@pytest.mark.parametrize("excepted", ["", "localhost:1"])
def test_a_private_address_is_not_even_connected_to(host: Host, cast: Cast, settings: Settings, excepted: str) -> None:
    settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = excepted
    assert _browser(cast).get(_asking(host.address)).status_code == 400
    assert host.read == []


@pytest.mark.parametrize(
    "client_id",
    ["https://127.0.0.1:{port}/agent.json", "https://[::1]:{port}/agent.json", "https://0x7f.1:{port}/agent.json",
     "https://user@localhost:{port}/agent.json", "https://localhost:{port}", "https://localhost:{port}/agent.json#x",
     "http://localhost:{port}/agent.json", "file:///etc/passwd"],
)  # fmt: skip
def test_an_id_that_is_no_plain_https_address_of_a_named_host_is_not_fetched(
    host: Host, cast: Cast, client_id: str
) -> None:
    assert _browser(cast).get(_asking(client_id.format(port=host.port))).status_code == 400
    assert host.read == []


def test_nobody_who_is_not_signed_in_makes_us_fetch_anything(host: Host) -> None:
    stranger = Client()
    assert stranger.get(_asking(host.address)).status_code == 302
    given = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": host.address}
    assert stranger.post("/oauth/token", given).status_code == 401
    assert stranger.post("/oauth/revocation", {"token": "x", "client_id": host.address}).status_code == 401
    assert host.read == []


def test_where_registration_is_off_only_known_clients_are_let_in(
    host: Host, agent: Outside, cast: Cast, settings: Settings
) -> None:
    off = {**settings.OAUTH2_PROVIDER, "DCR_ENABLED": False, "CIMD_ENABLED": False}
    settings.OAUTH2_PROVIDER = off
    assert Client().post("/oauth/registration", {}, content_type="application/json").status_code == 404
    assert _browser(cast).get(_asking(host.address)).status_code == 400
    assert host.read == []
    document = Client().get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in document
    assert document["client_id_metadata_document_supported"] is False
    asked = {name: values[0] for name, values in parse_qs(urlsplit(agent.address("resource")).query).items()}
    assert _browser(cast).get("/oauth/authorize", asked).status_code == 200


def _browser(cast: Cast) -> Client:
    client = Client()
    client.force_login(cast.alice.user, "django.contrib.auth.backends.ModelBackend")
    return client


def _asking(client_id: str) -> str:
    asked = {
        "response_type": "code", "client_id": client_id, "redirect_uri": "http://[::1]:9000/cb", "scope": "runs:read",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
    }  # fmt: skip
    return "/oauth/authorize?" + urlencode(asked)
