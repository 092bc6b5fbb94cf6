"""A web host that publishes the document of one client, with a certificate of its own."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Host:
    """What it publishes, and what was read of it."""

    port: int = 0
    document: dict[str, Any] = field(default_factory=dict)
    kind: str = "application/json"
    read: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The client's id."""
        return f"https://localhost:{self.port}/agent.json"


@contextmanager
def publishing(certificate: Path) -> Iterator[Host]:
    """Such a host on this machine; its certificate is written for those who are to trust it."""
    host = Host()
    server = HTTPServer(("127.0.0.1", 0), _publishing(host))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(certificate))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    host.port = server.server_port
    host.document = {"client_id": host.address, "client_name": "Published", "redirect_uris": ["http://[::1]:9000/cb"]}
    yield host
    server.shutdown()
    thread.join()
    server.server_close()


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
