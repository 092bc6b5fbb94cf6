"""What the door itself answers, before any MCP is spoken."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from asgiref.typing import ASGISendCallable

from agentops.errors import Problem


@dataclass(frozen=True)
class Refused(Exception):
    """The request goes no further."""

    status: HTTPStatus
    code: str
    detail: str
    headers: tuple[tuple[str, str], ...] = ()

    async def answer(self, send: ASGISendCallable) -> None:
        """As RFC 9457 has it."""
        body = Problem(self.status.value, self.code, self.detail).body()
        said = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), *self.headers]
        start = {"type": "http.response.start", "status": self.status.value, "headers": _encoded(said)}
        await send(start)  # type: ignore[arg-type]  # asgiref's message types are wider than servers need
        await send({"type": "http.response.body", "body": json.dumps(body).encode(), "more_body": False})


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
