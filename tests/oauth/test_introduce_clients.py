"""Clients introduce themselves: by registration (RFC 7591), or by the address of a document about them."""

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.core.cache import cache
from django.test import Client
from oauth2_provider.models import Application
from pytest_django import Settings

from agentops.oauth.registration import FROM_ONE_ADDRESS, MAX_BYTES
from tests.cast import Cast
from tests.oauth.party import Outside, text

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
    "body",
    [
        b"not json",
        b"[]",
        b"\xff\xfe",
        json.dumps({"client_name": "no address"}).encode(),
        json.dumps({**GOOD, "redirect_uris": []}).encode(),
        json.dumps({**GOOD, "redirect_uris": GOOD["redirect_uris"] * 11}).encode(),
        json.dumps({**GOOD, "client_name": "x" * 101}).encode(),
        json.dumps({**GOOD, "client_name": "x\ny"}).encode(),
        json.dumps({**GOOD, "grant_types": ["client_credentials"]}).encode(),
        json.dumps({**GOOD, "grant_types": ["implicit"], "response_types": ["token"]}).encode(),
        json.dumps({**GOOD, "response_types": ["token"]}).encode(),
    ],
)
def test_what_is_no_client_is_refused(http: httpx2.Client, body: bytes) -> None:
    answer = http.post("/oauth/registration", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_client_metadata", "invalid_redirect_uri"}


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


@dataclass
class Host:
    """A web host with a certificate of its own that publishes one client's document."""

    port: int = 0
    document: dict[str, Any] = field(default_factory=dict)
    kind: str = "application/json"
    read: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The client's id."""
        return f"https://localhost:{self.port}/agent.json"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Host]:
    """A host on this machine, trusted and excepted by the operator."""
    host = Host()
    server = HTTPServer(("127.0.0.1", 0), _publishing(host))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(tmp_path / "localhost.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    host.port = server.server_port
    host.document = {"client_id": host.address, "client_name": "Published", "redirect_uris": ["http://[::1]:9000/cb"]}
    trusting = ssl.create_default_context(cafile=str(tmp_path / "localhost.pem"))
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: trusting)
    settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = f"localhost:{host.port}"
    cache.clear()
    yield host
    server.shutdown()
    thread.join()
    server.server_close()


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
    assert stranger.post("/oauth/revocation", {"token": "x", "client_id": host.address}).status_code in {200, 401}
    assert host.read == []


def test_where_registration_is_off_only_known_clients_are_let_in(
    host: Host, agent: Outside, cast: Cast, settings: Settings
) -> None:
    off = {**settings.OAUTH2_PROVIDER, "DCR_ENABLED": False, "CIMD_ENABLED": False}
    settings.OAUTH2_PROVIDER = off
    assert _introduced(Client()).status_code == 404
    assert _browser(cast).get(_asking(host.address)).status_code == 400
    assert host.read == []
    document = Client().get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in document
    assert document["client_id_metadata_document_supported"] is False
    asked = {name: values[0] for name, values in parse_qs(urlsplit(agent.address("resource")).query).items()}
    assert _browser(cast).get("/oauth/authorize", asked).status_code == 200


def _introduced(client: Client) -> Any:
    return client.post("/oauth/registration", GOOD, content_type="application/json")


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


def _publishing(host: Host) -> type[BaseHTTPRequestHandler]:
    class Publishing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.read.append(self.path)
            body = json.dumps(host.document).encode()
            self.send_response(200)
            self.send_header("Content-Type", host.kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Publishing


def _certificate(path: Path) -> Path:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)  # noqa: TID251 - a certificate has real dates
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return path
