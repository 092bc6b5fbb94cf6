"""The guarded way out: names are resolved once, every answer is judged, and the judged address is connected to."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable

import httpcore2
import httpx2

from tools.domain.egress import Destination, EgressPolicy, HostRefused

MAX_CONNECTIONS = 100
KEEP_ALIVE_SECONDS = 30.0


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to what the policy allows and to nothing else."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._policy = policy
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the one address that was judged, whatever the name answers a moment later."""
        where = Destination(f"[{host}]" if ":" in host else host, port)
        if str(where) not in self._policy.allowed:
            raise HostRefused(f"{where} is not on the tool's list of destinations.")
        address = self._policy.check_addresses(where, await _addresses(host, port))
        return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise HostRefused("A socket on this host is not a destination.")


async def _addresses(host: str, port: int) -> list[str]:
    """Every answer of the name, in the resolver's order."""
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(f"{host} could not be resolved.") from error
    return [str(answer[4][0]) for answer in answers]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """httpx2's transport over a pool of its own: kept connections are never shared between two policies."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=GuardedBackend(policy),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; httpcore's own errors go through, they tell most precisely what happened."""
        url = request.url
        answer = await self._pool.handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Stream(answer),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close every kept connection."""
        await self._pool.aclose()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._answer.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._answer.aclose()
