"""The wire to a model's server: guarded like every way out, exact to the digit, bounded, and it alone has the key."""

import re
import secrets
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import httpcore2
import httpx2

from tools.domain.canonical import Json, canonical
from tools.domain.egress import EgressPolicy, HostRefused
from tools.kinds.transport import GuardedTransport

MAX_ANSWER_BYTES = 8 * 1024 * 1024
_OWN_KEYS = {"authorization", "x-api-key", "accept-encoding", "openai-organization", "openai-project"}
"""Headers that the libraries fill from the process's environment: only the agent's own credential is sent."""


class Wire(httpx2.AsyncBaseTransport):
    """One request's transport. `status` and `body` are what came back, `refused` why nothing was sent."""

    def __init__(self, policy: EgressPolicy, headers: Mapping[str, str]) -> None:
        self._inner = GuardedTransport(policy)
        self._headers = headers
        self._mark = secrets.token_hex(16)
        self._marked = re.compile(rf'(\\?)"{self._mark}:([0-9eE+.-]+)\1"')
        self.left = False
        self.status: int | None = None
        self.body = b""
        self.refused = ""

    def exactly(self, value: Json) -> Any:
        """The value for libraries that know no Decimal: its digits are put in place when the request leaves."""
        match value:
            case Decimal():
                return f"{self._mark}:{canonical(value)}"
            case dict():
                return {key: self.exactly(part) for key, part in value.items()}
            case list() | tuple():
                return [self.exactly(part) for part in value]
            case _:
                return value

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it and read the whole answer; what httpcore raises becomes what the libraries expect of httpx."""
        content = self._marked.sub(r"\2", (await request.aread()).decode()).encode()
        kept = [(name, text) for name, text in request.headers.items() if name.lower() not in _OWN_KEYS]
        headers = [(name, text) for name, text in kept if name.lower() != "content-length"]
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=[*headers, *self._headers.items(), ("Accept-Encoding", "identity")],
            content=content,
            extensions={**request.extensions, "trace": self._trace},
        )
        try:
            return await self._exchanged(sent)
        except HostRefused as error:
            self.refused = error.message
            raise httpx2.ConnectError(error.message) from error
        except httpcore2.TimeoutException as error:
            raise httpx2.ReadTimeout("timeout") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise httpx2.ReadError(type(error).__name__) from error

    async def _exchanged(self, request: httpx2.Request) -> httpx2.Response:
        answer = await self._inner.handle_async_request(request)
        self.status, body = answer.status_code, bytearray()
        try:
            async for part in answer.aiter_raw():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise httpx2.ReadError("The answer is too long.")
        finally:
            await answer.aclose()
        self.body = bytes(body)
        headers = [
            (k, v) for k, v in answer.headers.items() if k.lower() not in {"content-length", "transfer-encoding"}
        ]
        return httpx2.Response(answer.status_code, headers=headers, content=self.body)

    async def aclose(self) -> None:
        """Nothing is kept for the next request: minutes may pass before it."""
        await self._inner.aclose()

    async def _trace(self, event: str, _info: dict[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            self.left = True
