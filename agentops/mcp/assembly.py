"""Puts the gateway's server together. Loading this costs seconds: it is done with the first request."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import structlog
from django.conf import settings
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolRequestParams, ListToolsResult, PaginatedRequestParams
from pydantic import ValidationError

from agentops.mcp import tasks
from agentops.mcp.calling import call_tool
from agentops.mcp.listening import listen
from agentops.mcp.listing import input_schema_of, require_offer, tools_of
from agentops.mcp.visit import here

NAME: Final = "agentops"
STATE_SECONDS: Final = 3600.0
_log = structlog.get_logger()
INSTRUCTIONS: Final = """\
Every call goes through the team's rules. A call may answer `pending_approval`: it waits for a person at `approve_url`.
Tell the user, then call `approval_wait` as `next` says until it answers with the result; the call is made once.
Making the very same call again is safe: it answers with the same approval or the recorded result.
A refusal has `code`, `message` and `hint`. Call `finish` when the work is done."""


def gateway() -> StreamableHTTPSessionManager:
    """The server of `/mcp` and `/mcp/r/<run>`, for any number of processes beside each other."""
    server = Server(
        NAME,
        version="1",
        title="AgentOps",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_input_schema,
        on_list_tools=_list_tools,
        on_subscriptions_listen=listen,
    )
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    tasks.add_to(server)
    return served(server)


def served(server: Server[Any], *, sessions: bool = False) -> StreamableHTTPSessionManager:
    """Over HTTP in both eras of the protocol. Without `sessions` any process answers any request of either.

    The door in front has looked at host, origin and size. Answers as JSON alone would hide that a client has gone.
    """
    keys = [hashlib.sha256(b"mcp state " + key.encode()).digest() for key in _secrets()]
    security = RequestStateSecurity(keys=keys, ttl=STATE_SECONDS, bind_principal=lambda ctx: here().bearer.grant)
    server.middleware += [RequestStateBoundary(security, default_audience=server.name), _say_no_internals]
    return StreamableHTTPSessionManager(app=server, stateless=not sessions, json_response=False)


async def _say_no_internals(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """In the handshake era the SDK would tell clients what a fault of ours says: statements, hosts, names of roles."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception:  # noqa: BLE001 - whatever it is, a client reads none of it
        _log.exception("mcp_request_failed", method=ctx.method)
        raise MCPError(INTERNAL_ERROR, "Internal server error") from None


def _secrets() -> list[str]:
    return [settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS)]


async def _list_tools(ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None) -> ListToolsResult:
    visit = here()
    require_offer(visit)
    return ListToolsResult(tools=tools_of(visit), ttl_ms=0, cache_scope="private")


def _input_schema(name: str) -> Mapping[str, Any] | None:
    return input_schema_of(here(), name)
