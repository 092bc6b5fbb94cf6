"""The ASGI side of a mount: method, host, origin, size and caller, then the server behind it with the visit at hand."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any, ClassVar, Final

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from agentops.mcp.answers import Refused
from agentops.mcp.life import Life
from agentops.mcp.visit import VISIT, Visit
from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson

MAX_BODY: Final = 4 * 1024 * 1024
type Admit = Callable[[str, dict[str, str], str], Awaitable[Visit]]
"""From path, headers and origin of the installation to the visit. Raises Refused."""


class Door:
    """One mount of a server without sessions: nothing is sent on a GET stream, and there is no session to delete.

    `life`: the server behind it; `admit`: who may come in; `prepare`: what their request needs read.
    """

    methods: ClassVar[tuple[str, ...]] = ("POST",)

    def __init__(self, life: Life, admit: Admit, prepare: Callable[[Visit], Awaitable[Visit]]) -> None:
        self._life, self._admit, self._prepare = life, admit, prepare

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request."""
        headers = _headers(scope)
        try:
            self._check_method(scope)
            visit = await self._admit(scope["path"], headers, _origin(scope, headers))
            raw = await _body(receive)
            visit = await self._prepare(_completed(visit, raw))
        except Refused as refused:
            await refused.answer(send)
            return
        VISIT.set(visit)
        server = await self._life.server()
        await server.handle_request(_trimmed(scope), _again(raw, receive), send)

    def _check_method(self, scope: HTTPScope) -> None:
        if scope["method"] not in self.methods:
            allowed = ", ".join(self.methods)
            raise Refused(
                HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", f"Only {allowed}.", (("Allow", allowed),)
            )


def _headers(scope: HTTPScope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1").strip() for name, value in scope["headers"]}


def _origin(scope: HTTPScope, headers: dict[str, str]) -> str:
    """Where this installation was called, once the names of host and caller are known to be good."""
    host = headers.get("host", "")
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "wrong_host", "This host name is not answered here.")
    here = f"{_scheme(scope, headers)}://{host}"
    caller = headers.get("origin")
    if caller and caller not in {here, *settings.CSRF_TRUSTED_ORIGINS}:
        raise Refused(HTTPStatus.FORBIDDEN, "wrong_origin", "Pages of this origin may not call here.")
    return here


def _scheme(scope: HTTPScope, headers: dict[str, str]) -> str:
    """As Django reads it, so that an address has one name at every door: what the nearest caller of a proxy used."""
    told = headers.get("x-forwarded-proto") if settings.SECURE_PROXY_SSL_HEADER else None
    if told is None:
        return scope["scheme"]
    return "https" if told.split(",")[0].strip() == "https" else "http"


async def _body(receive: ASGIReceiveCallable) -> bytes:
    read = bytearray()
    while True:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            return bytes(read)
        read += message.get("body", b"")
        if len(read) > MAX_BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "payload_too_large", "The body is above 4 MiB.")
        if not message.get("more_body", False):
            return bytes(read)


def _completed(visit: Visit, raw: bytes) -> Visit:
    """The visit with what it asks for, numbers exact; the server behind reads the same bytes in its own way."""
    try:
        read = parse(raw)
    except InvalidJson as error:
        return replace(visit, fault=f"{error.pointer or '/'}: {error.detail}")
    return replace(visit, body=read if isinstance(read, dict) else None)


def _again(raw: bytes, receive: ASGIReceiveCallable) -> ASGIReceiveCallable:
    """The body that was read already, and then whatever still comes."""
    waiting: list[Any] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def next_message() -> Any:
        return waiting.pop() if waiting else await receive()

    return next_message


def _trimmed(scope: HTTPScope) -> HTTPScope:
    """Servers differ in whether they leave white space at the end of a header's value."""
    return {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}
