"""A small HTTP server with every bad habit a real one can have; each test's own, on a real socket."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass
class Received:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


type Behaviour = Callable[[socket.socket, Received, threading.Event], bool]


@dataclass
class Server:
    """`requests` in order of arrival; `connections` counts accepted sockets."""

    port: int
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    arrived: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        """As the operator would list it."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        """An address on this server."""
        return f"http://{self.host}{path}"


@contextmanager
def serving(behave: Behaviour, address: str = "127.0.0.1") -> Iterator[Server]:
    """The server, listening, until the block ends."""
    listener = socket.create_server((address, 0))
    server = Server(listener.getsockname()[1])
    accepting = threading.Thread(target=_accept, args=(listener, server, behave), daemon=True)
    accepting.start()
    try:
        yield server
    finally:
        server.closing.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join(5)


def answering(status: int, body: bytes | object = b"", **headers: str) -> Behaviour:
    """Answer every request so; what is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def behave(connection: socket.socket, _: Received, __: threading.Event) -> bool:
        lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(content)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        return True

    return behave


def echo(connection: socket.socket, request: Received, stop: threading.Event) -> bool:
    """Answer with what arrived."""
    seen = {
        "method": request.method,
        "target": request.target,
        "headers": request.headers,
        "body": request.body.decode(),
    }
    return answering(200, seen)(connection, request, stop)


def cutting(connection: socket.socket, _: Received, __: threading.Event) -> bool:
    """Read the request and hang up."""
    connection.shutdown(socket.SHUT_RDWR)
    return False


def cutting_the_answer(connection: socket.socket, _: Received, __: threading.Event) -> bool:
    """Promise a thousand bytes and hang up after a few."""
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"paid"')
    return False


def silent(connection: socket.socket, _: Received, __: threading.Event) -> bool:
    """Never answer, and see the other side hang up."""
    connection.recv(1)
    return False


def dripping(connection: socket.socket, _: Received, stop: threading.Event) -> bool:
    """Answer one byte at a time, for ever: every single read is quick."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not stop.wait(0.02):
        connection.sendall(b" ")
    return False


def endless(connection: socket.socket, _: Received, stop: threading.Event) -> bool:
    """Answer without an end, as fast as it is read."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[")
    while not stop.is_set():
        connection.sendall(b"1," * 32_768)
    return False


def not_http(connection: socket.socket, _: Received, __: threading.Event) -> bool:
    """Answer in another language."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    return False


def _accept(listener: socket.socket, server: Server, behave: Behaviour) -> None:
    while not server.closing.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        threading.Thread(target=_serve, args=(connection, server, behave), daemon=True).start()


def _serve(connection: socket.socket, server: Server, behave: Behaviour) -> None:
    with connection, connection.makefile("rb") as reader:
        try:
            while (request := _read(reader)) is not None:
                server.requests.append(request)
                server.arrived.set()
                if not behave(connection, request, server.closing):
                    return
        except OSError:
            pass
        finally:
            server.hung_up.set()


def _read(reader: BinaryIO) -> Received | None:
    first = reader.readline().decode()
    if not first.strip():
        return None
    method, target, _ = first.split(" ", 2)
    headers = {}
    while line := reader.readline().decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Received(method, target, headers, reader.read(int(headers.get("content-length", 0))))
