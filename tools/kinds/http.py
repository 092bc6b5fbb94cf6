"""HTTP tools: one request, one answer, and the truth about whether the request may have left."""

import asyncio
import logging
from asyncio import AbstractEventLoop
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import httpcore2
import httpx2
from django.conf import settings

from tools.call import ToolCall
from tools.domain.answer import Answer
from tools.domain.egress import EgressPolicy, HostRefused, destination
from tools.domain.http_answer import reading
from tools.domain.http_request import HttpRequest, build
from tools.domain.outcome import Failed, NotSent, Outcome, ToolFault, Unknown
from tools.domain.spec import ToolSpec
from tools.kinds.loop import background_loop, run_here, torn_down_by
from tools.kinds.transport import GuardedTransport

logging.getLogger("httpx2").setLevel(logging.WARNING)  # it writes whole addresses, arguments included, at INFO
MAX_BODY_BYTES = 4 * 1024 * 1024
_SENT = ("http11.send_request_headers.started", "http2.send_request_headers.started")


def run(call: ToolCall, seconds: float) -> Answer | Outcome:
    """Send the call's request within `seconds` of wall-clock time. Raises ToolError for arguments without a place."""
    request = build(call.tool.spec, call.args, call.idempotency_key)
    policy = policy_of(call.tool.spec, request.url)
    try:
        where = policy.check_url(request.url)
    except HostRefused as error:
        return Failed(ToolFault(error.code, error.message))
    bearer = call.credential.get_secret_value() if call.credential is not None else None
    attempt = _Attempt(call, request, policy, bearer if str(where) in policy.allowed else None)
    return run_here(attempt.within(seconds))


def policy_of(spec: ToolSpec, url: str) -> EgressPolicy:
    """Where this tool may go: its own list, or the one host of its address; and what the operator excepted."""
    allowed = frozenset(spec.egress)
    if not allowed:
        try:
            allowed = frozenset({str(destination(url))})
        except HostRefused:
            allowed = frozenset()
    return EgressPolicy(allowed, private_hosts())


def private_hosts() -> frozenset[str]:
    """The operator's exceptions to *public addresses only*, as exact `host:port`."""
    listed = getattr(settings, "AGENTOPS_ALLOWED_PRIVATE_HOSTS", "")
    names = listed.split(",") if isinstance(listed, str) else listed
    return frozenset(name.strip().lower() for name in names if name.strip())


@dataclass
class _Attempt:
    call: ToolCall
    request: HttpRequest
    policy: EgressPolicy
    bearer: str | None = field(repr=False)
    left: bool = False
    status: int | None = None

    async def within(self, seconds: float) -> Answer | Outcome:
        """The exchange under the wall-clock limit; a cancel tears the connection down at once."""
        try:
            with torn_down_by(self.call.cancelled):
                async with asyncio.timeout(seconds):
                    return await self._exchange()
        except TimeoutError:
            return self._broken("timeout", f"There was no answer within {seconds:.1f} s.", retryable=True)
        except asyncio.CancelledError:
            return self._cancelled()
        except HostRefused as error:
            return Failed(ToolFault(error.code, error.message))
        except (httpcore2.NetworkError, httpcore2.TimeoutException):
            return self._broken("unreachable", "The connection could not be made or broke off.", retryable=True)
        except (httpcore2.ProtocolError, httpx2.TransportError, httpx2.StreamError):
            code = "unreachable" if self.status is None else "invalid_result"
            return self._broken(code, "There was no whole HTTP answer.", retryable=True)

    async def _exchange(self) -> Answer | Outcome:
        client = _client(self.policy)
        async with client.stream(
            self.request.method,
            self.request.url,
            headers=self._headers(),
            content=self.request.body.encode() if self.request.body is not None else None,
            extensions={"trace": self._trace},
        ) as response:
            self.status = response.status_code
            encoding = response.headers.get("content-encoding", "identity")
            if encoding != "identity":
                fault = ToolFault("invalid_result", "The answer is compressed although that was not asked for.")
                return reading(self.call.tool.spec, response.status_code, None, fault)
            body, cut = await _bounded_body(response)
            return reading(self.call.tool.spec, response.status_code, body, cut)

    def _headers(self) -> list[tuple[str, str]]:
        headers = [*self.request.headers, ("User-Agent", "agentops"), ("Accept-Encoding", "identity")]
        if self.call.traceparent:
            headers.append(("traceparent", self.call.traceparent))
        return [*headers, ("Authorization", f"Bearer {self.bearer}")] if self.bearer is not None else headers

    async def _trace(self, event: str, _info: dict[str, Any]) -> None:
        if event in _SENT:
            self.left = True

    def _cancelled(self) -> Answer | Outcome:
        if not self.left:
            return NotSent("The call was cancelled before anything was sent.")
        return self._broken("cancelled", "The call was cancelled while it ran.", retryable=False)

    def _broken(self, code: str, message: str, *, retryable: bool) -> Answer | Outcome:
        """What an exchange without a whole answer means."""
        if self.status is not None:
            cut = ToolFault(code, message, retryable)
            return reading(self.call.tool.spec, self.status, None, cut)
        if self.left and self.call.tool.spec.is_mutation:
            return Unknown(f"{code}: {message} The request may have been acted on.")
        return Failed(ToolFault(code, message, retryable))


async def _bounded_body(response: httpx2.Response) -> tuple[bytes | None, ToolFault | None]:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            return None, ToolFault("result_too_large", f"The answer is longer than {MAX_BODY_BYTES} bytes.")
    return bytes(body), None


def _client(policy: EgressPolicy) -> httpx2.AsyncClient:
    """The client of this policy on this process's loop."""
    return _client_on(policy, background_loop())


@lru_cache(maxsize=256)
def _client_on(policy: EgressPolicy, _loop: AbstractEventLoop) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=GuardedTransport(policy), timeout=None, trust_env=False, follow_redirects=False, max_redirects=0
    )
