"""Puts the gateway's server together. Loading this costs seconds: it is done with the first request."""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ListToolsResult, PaginatedRequestParams

from agentops.mcp.calling import call_tool
from agentops.mcp.listing import input_schema_of, tools_of
from agentops.mcp.visit import here

NAME = "agentops"
INSTRUCTIONS = """\
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
        on_call_tool=call_tool,
    )
    return served(server)


def served(server: Server[Any]) -> StreamableHTTPSessionManager:
    """Over HTTP, without sessions: any process answers any request, in either era of the protocol."""
    # The door in front has looked at host, origin and size; answers as JSON alone would hide that a client has gone.
    return StreamableHTTPSessionManager(app=server, stateless=True, json_response=False)


async def _list_tools(ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None) -> ListToolsResult:
    visit = here()
    if visit.offer is None:
        raise MCPError(INVALID_PARAMS, visit.unoffered or "No tools are offered.")
    return ListToolsResult(tools=tools_of(visit), ttl_ms=0, cache_scope="private")


def _input_schema(name: str) -> Mapping[str, Any] | None:
    return input_schema_of(here(), name)
