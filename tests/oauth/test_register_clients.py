"""Clients introduce themselves by registration (RFC 7591)."""

import json
from typing import Any

import httpx2
import pytest
from django.core.cache import cache
from django.test import Client
from oauth2_provider.models import Application

from agentops.oauth.registration import FROM_ONE_ADDRESS, MAX_BYTES

GOOD: dict[str, Any] = {"client_name": "Cursor", "redirect_uris": ["http://127.0.0.1:9000/cb"]}


def test_a_registered_client_is_public_whatever_it_asks_for(http: httpx2.Client) -> None:
    asked = {
        **GOOD,
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code", "refresh_token"],
        "scope": "everything",
        "skip_authorization": True,
    }
    answer = http.post("/oauth/registration", json=asked)
    said = answer.json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert said["token_endpoint_auth_method"] == "none"
    assert said["grant_types"] == ["authorization_code", "refresh_token"]
    assert (said["response_types"], said["redirect_uris"]) == (["code"], GOOD["redirect_uris"])
    assert said["client_id_issued_at"] > 0
    assert "client_secret" not in said
    client = Application.objects.get(client_id=said["client_id"])
    assert (client.client_type, client.skip_authorization, client.user_id) == ("public", False, None)


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "claude://callback",
        "http://intranet.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.1/cb",
        "https://user@evil.example/cb",
        "https://evil.example/cb#x",
        "https://*.example/cb",
        "https://evil.example;script-src/cb",
        "https://evil.example/c b",
        "https://evil.example/\r\nSet-Cookie: x",
        "//evil.example/cb",
        "",
        "https://evil.example/" + "x" * 500,
    ],
)
def test_an_address_that_is_not_https_or_this_machine_is_refused(http: httpx2.Client, uri: str) -> None:
    answer = http.post("/oauth/registration", json={**GOOD, "redirect_uris": [uri]})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "uris",
    [
        {},
        {"redirect_uris": []},
        {"redirect_uris": GOOD["redirect_uris"] * 11},
        {"redirect_uris": GOOD["redirect_uris"][0]},
    ],
)
def test_a_client_without_a_few_addresses_is_refused_for_them(http: httpx2.Client, uris: dict[str, Any]) -> None:
    answer = http.post("/oauth/registration", json={"client_name": "Cursor", **uris})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"\xff\xfe",
        json.dumps({**GOOD, "client_name": "x" * 101}).encode(),
        json.dumps({**GOOD, "client_name": "x\ny"}).encode(),
        json.dumps({**GOOD, "grant_types": ["client_credentials"]}).encode(),
        json.dumps({**GOOD, "grant_types": ["implicit"], "response_types": ["token"]}).encode(),
        json.dumps({**GOOD, "response_types": ["token"]}).encode(),
    ],
)
def test_what_is_no_client_is_refused(http: httpx2.Client, body: bytes) -> None:
    answer = http.post("/oauth/registration", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_a_client_that_says_too_much_is_refused(http: httpx2.Client) -> None:
    answer = http.post("/oauth/registration", json={**GOOD, "logo_uri": "x" * MAX_BYTES})
    assert (answer.status_code, answer.json()["error"]) == (413, "invalid_client_metadata")


def test_too_many_clients_from_one_address_are_told_to_wait(database: None) -> None:
    cache.clear()
    client = Client(REMOTE_ADDR="198.51.100.7")
    answers = (_introduced(client) for _ in range(FROM_ONE_ADDRESS + 1))
    refused = next(answer for answer in answers if answer.status_code != 201)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "3600")
    assert _introduced(Client(REMOTE_ADDR="198.51.100.8")).status_code == 201
    forged = Client(REMOTE_ADDR="198.51.100.7", headers={"X-Forwarded-For": "198.51.100.9"})
    assert _introduced(forged).status_code == 429


def _introduced(client: Client) -> Any:
    return client.post("/oauth/registration", GOOD, content_type="application/json")
