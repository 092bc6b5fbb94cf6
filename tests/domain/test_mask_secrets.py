"""A secret is shown, sent out and hashed as a tag, however deep it lies and however its key is spelled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.domain.json_values import values
from tools.domain.canonical import Json, canonical
from tools.domain.secrets import SECRET_TAG, for_digest, is_secret_key, mask

CASES = json.loads((Path(__file__).parent.parent / "cases" / "display.json").read_text())
KEY = b"tenant key"
CREDENTIAL = "sk-live-0123456789"


def masked(value: Any, schema: Mapping[str, Any] | None = None, known: frozenset[str] = frozenset()) -> Any:
    return mask(value, schema or {}, key=KEY, known=known).value


@pytest.mark.parametrize("case", CASES["secrets"], ids=lambda case: str(case["never_shown"]))
def test_no_secret_is_ever_written(case: dict[str, Any]) -> None:
    value = case.get("args") or case["result"]
    for text in (canonical(masked(value)), canonical(for_digest(value, {}, key=KEY))):
        for secret in case["never_shown"]:
            assert secret not in text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Password",
        "userPassword",
        "user_password",
        "passwd",
        "pwd",
        "AWS_SECRET_ACCESS_KEY",
        "x-api-key",
        "X-API-Key",
        "apiKey",
        "APIKey",
        "api_key",
        "apikey",
        "token",
        "accessToken",
        "access_token",
        "accesstoken",
        "api_tokens",
        "sessionId",
        "session_id",
        "session",
        "cookie",
        "Set-Cookie",
        "Authorization",
        "proxy-authorization",
        "credential",
        "credentials",
        "private_key",
        "privateKey",
        "secret_id",
        "client_secret",
        "clientsecret",
        "dbpassword",
        "DB_PASS",
        "auth",
        "passphrase",
        "otp",
        "pin",
        "jwt",
        "password2",
        "\uff50assword",
        "pass\u200bword",
        "secretKeyRef",
        "basic_auth",
    ],
)
def test_a_key_says_that_its_value_is_secret(name: str) -> None:
    assert is_secret_key(name)


@pytest.mark.parametrize(
    "name",
    [
        "tokens_used",
        "max_tokens",
        "input_tokens",
        "token_count",
        "token_type",
        "token_budget",
        "secretary",
        "monkey",
        "key",
        "public_key",
        "author",
        "session_count",
        "idempotency_key",
        "password_policy",
        "secret_name",
        "primary_key",
        "passenger",
        "compass",
        "tokenizer",
        "cookie_policy",
        "invoice_id",
        "amount",
        "account",
        "spin",
        "passing",
        "",
        "\u27e6",
        "1",
    ],
)
def test_an_ordinary_key_does_not(name: str) -> None:
    assert not is_secret_key(name)


def test_a_tag_tells_kind_and_length_and_equal_values_have_equal_tags() -> None:
    value = masked({"password": "hunter2", "old": {"token": "hunter2"}, "pin": 1234, "secret": True})
    assert value["password"] == value["old"]["token"]
    assert value["password"].startswith("⟦secret string 7 hmac:")
    assert value["pin"].startswith("⟦secret number 4 hmac:")
    assert value["secret"].startswith("⟦secret boolean 4 hmac:")
    assert mask({"password": "hunter2"}, {}, key=b"other").value["password"] != value["password"]


def test_everything_below_a_secret_key_is_secret() -> None:
    found = mask({"credentials": {"user": "a", "list": ["b", {"c": 1}], "none": None, "empty": []}}, {}, key=KEY)
    assert found.secrets == ("/credentials/user", "/credentials/list/0", "/credentials/list/1/c")
    assert found.value["credentials"]["none"] is None
    assert found.value["credentials"]["empty"] == []


def test_a_named_value_is_secret_by_its_name() -> None:
    headers = masked([{"name": "Authorization", "value": "Bearer x"}, {"name": "Accept", "value": "text/html"}])
    assert "Bearer" not in headers[0]["value"]
    assert headers[1]["value"] == "text/html"


PASSWORD = {"type": "string", "format": "password"}


@pytest.mark.parametrize(
    ("schema", "value", "pointers"),
    [
        ({"properties": {"x": PASSWORD}}, {"x": "s", "y": "t"}, ("/x",)),
        ({"properties": {"x": {"writeOnly": True}}}, {"x": {"a": 1}}, ("/x/a",)),
        ({"properties": {"x": {"$ref": "#/$defs/p"}}, "$defs": {"p": PASSWORD}}, {"x": "s"}, ("/x",)),
        ({"properties": {"x": {"$ref": "#p"}}, "$defs": {"q": {"$anchor": "p", **PASSWORD}}}, {"x": "s"}, ("/x",)),
        ({"$ref": "#/allOf/0", "allOf": [{"items": PASSWORD}]}, ["s"], ("/0",)),
        ({"additionalProperties": PASSWORD, "properties": {"y": {}}}, {"x": "s", "y": "t"}, ("/x",)),
        ({"patternProperties": {"(a+)+$": PASSWORD}}, {"aaaa": "s"}, ("/aaaa",)),
        (
            {"properties": {"l": {"items": {"oneOf": [{"type": "null"}, PASSWORD]}}}},
            {"l": ["a", "b"]},
            ("/l/0", "/l/1"),
        ),
        ({"properties": {"l": {"prefixItems": [{}, PASSWORD], "items": {}}}}, {"l": ["a", "b", "c"]}, ("/l/1",)),
        ({"if": {"properties": {"k": {}}}, "then": {"properties": {"x": PASSWORD}}}, {"x": "s"}, ("/x",)),
        ({"dependentSchemas": {"k": {"properties": {"x": PASSWORD}}}}, {"x": "s"}, ("/x",)),
        (
            {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": PASSWORD}}}, "$ref": "#/$defs/n"},
            {"next": {"next": {"v": "s"}}},
            ("/next/next/v",),
        ),
        ({"properties": {"x": {"$ref": "#/nowhere/0"}, "y": PASSWORD}}, {"x": "s"}, ()),
        ({"properties": {"x": {"$ref": "https://else.example/"}, "y": PASSWORD}}, {"x": "s"}, ()),
        ({"properties": {"x": {"$ref": "#missing"}, "y": PASSWORD}}, {"x": "s"}, ()),
        ({"properties": {"x": {"title": "no secret"}}}, {"x": "s"}, ()),
    ],
)
def test_a_schema_says_that_a_value_is_secret(schema: Mapping[str, Any], value: Any, pointers: tuple[str, ...]) -> None:
    assert mask(value, schema, key=KEY).secrets == pointers


def test_a_stored_credential_is_found_everywhere() -> None:
    known = frozenset({CREDENTIAL, "1234567890", "abc"})
    found = mask(
        {"note": f"Bearer {CREDENTIAL}!", "n": 1234567890, "s": "abc", "t": "abcdef", CREDENTIAL: 1, "b": True},
        {},
        key=KEY,
        known=known,
    )
    assert CREDENTIAL not in canonical(found.value)
    assert found.value["note"].startswith("Bearer ⟦secret string 18 hmac:")
    assert found.value["t"] == "abcdef"
    assert found.value["b"] is True
    assert set(found.secrets) == {"/note", "/n", "/s"}


def test_a_text_that_imitates_a_tag_is_masked_itself() -> None:
    real = masked({"password": "x"})["password"]
    copied = masked({"note": f"see {real}"})["note"]
    assert real not in copied
    assert len(SECRET_TAG.findall(copied)) == 1


def test_digests_tell_every_secret_apart() -> None:
    forms = {canonical(for_digest({"password": value}, {}, key=KEY)) for value in ("a", "b", "7", 7, True, "", None)}
    assert len(forms) == 7
    assert len(for_digest({"password": "a"}, {}, key=KEY)["password"]) == len("⟦hmac ⟧") + 64


@given(values)
def test_what_is_not_secret_stays_as_it_is(value: Json) -> None:
    plain = mask({"": value}, {}, key=KEY)
    if not plain.secrets:
        assert plain.value == {"": value}


def test_large_values_are_masked_quickly() -> None:
    schema = {"properties": {"a": {"items": {"properties": {"p": PASSWORD}}}}}
    value = {"a": [{"p": "s", "q": n} for n in range(10_000)], "s": "x" * 1_000_000}
    assert len(mask(value, schema, key=KEY, known=frozenset({CREDENTIAL})).secrets) == 10_000
