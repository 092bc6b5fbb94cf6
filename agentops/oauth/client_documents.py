"""Client id metadata documents: a client whose id is the https address of its own description, fetched with care."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2
from django.urls import reverse
from oauth2_provider.cimd import CIMDError

from agentops.domain_error import DomainError
from agentops.oauth.redirects import is_safe_redirect
from agentops.oauth.registration import MAX_BYTES, MAX_NAME, MAX_REDIRECTS
from tools.domain.egress import EgressPolicy, destination
from tools.kinds.http import private_hosts
from tools.kinds.loop import run_here
from tools.kinds.transport import GuardedTransport

SECONDS = 5.0
KEPT_SECONDS = 3600
_FAULTS = (
    DomainError,
    ValueError,
    TimeoutError,
    httpx2.HTTPError,
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
)
"""Whatever keeps a document from us: refused, unreadable, too slow, or a fault on the way."""


class WhileAPersonAsks:
    """Fetch only where somebody who signed in is being asked; the token endpoint is open to the world."""

    def has_permission(self, request: Any, client_id: str) -> bool:
        """The authorization endpoint asks for a session before it reads anything."""
        path: str = urlsplit(request.uri).path
        return path == reverse("oauth2_provider:authorize")


class GuardedFetcher:
    """The library's fetcher, over the transport that judges every address before it connects."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """The document, and for how many seconds it holds. Raises CIMDError."""
        try:
            document = run_here(_fetched(client_id))
        except _FAULTS as error:
            raise CIMDError(f"could not be fetched: {type(error).__name__}") from error
        _check(document)
        # Of several ways the library keeps one; this is the one that there is here.
        return {**document, "grant_types": ["authorization_code"]}, KEPT_SECONDS


async def _fetched(url: str) -> Any:
    where = destination(url)
    if urlsplit(url).scheme != "https" or "#" in url or urlsplit(url).path in {"", "/"}:
        raise CIMDError("a client id is an https address with a path")
    policy = EgressPolicy(frozenset({str(where)}), private_hosts())
    policy.check_url(url)
    transport = GuardedTransport(policy)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "agentops"}
    async with (
        asyncio.timeout(SECONDS),
        httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False) as client,
        client.stream("GET", url, headers=headers) as answer,
    ):
        if answer.status_code != 200 or not answer.headers.get("Content-Type", "").startswith("application/json"):
            raise CIMDError("the address answers with no JSON document")
        body = bytearray()
        async for part in answer.aiter_raw():
            body += part
            if len(body) > MAX_BYTES:
                raise CIMDError("the document is too long")
        return json.loads(body)


def _check(document: Any) -> None:
    """What the library does not: where answers may go, and how much a client may say of itself."""
    if not isinstance(document, dict):
        raise CIMDError("the document is not an object")
    uris, name = document.get("redirect_uris"), document.get("client_name", "")
    if not isinstance(uris, list) or not 1 <= len(uris) <= MAX_REDIRECTS:
        raise CIMDError("the document names no redirect address, or too many")
    if not all(isinstance(uri, str) and is_safe_redirect(uri) for uri in uris):
        raise CIMDError("a redirect address is https, or http on a loopback host")
    if "authorization_code" not in document.get("grant_types", ["authorization_code"]):
        raise CIMDError("the client does not speak the authorization code grant")
    if not isinstance(name, str) or len(name) > MAX_NAME or not name.isprintable():
        raise CIMDError("the client's name is not a short text")
