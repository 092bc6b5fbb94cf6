"""`tools/call`: one call becomes a step of the caller's run, and its outcome or what it waits for the answer."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentops.domain_error import DomainError
from agentops.env import env
from agentops.mcp import own_tools, tasks
from agentops.mcp.listing import handle_key_of, require_offer
from agentops.mcp.profiles import hold_seconds
from agentops.mcp.rendering import approve_url, refused, result_of
from agentops.mcp.threads import in_thread
from agentops.mcp.visit import Visit, here
from agentops.mcp.waiting import Tell, is_held, is_settled, settled, still_welcome
from runs.domain.errors import NoSuchTool
from runs.domain.planning import Refusal, ToolProposal
from runs.operations.calling import Called, call
from runs.operations.granting import run_of_grant
from runs.queries import StepView
from runs.readback import own_call

AGAIN, WHY = "agentops/again", "agentops/why"
type Context = ServerRequestContext[Any, Any]
type Answer = CallToolResult | InputRequiredResult | dict[str, Any]


async def call_tool(ctx: Context, params: CallToolRequestParams) -> Answer:
    """Answer a call. Its disconnected caller cancels the waiting alone: the call itself is written down by then."""
    visit = here()
    require_offer(visit)
    try:
        if params.name in own_tools.BY_NAME:
            return await own_tools.BY_NAME[params.name](visit, arguments(visit), tell_of(ctx))
        return await _made(ctx, visit, params)
    except NoSuchTool:
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}") from None
    except DomainError as error:
        return refused(error)


async def _made(ctx: Context, visit: Visit, params: CallToolRequestParams) -> Answer:
    """Whatever this client understands: a task, a page to open, else a short wait and then what is awaited."""
    if require_offer(visit).tool(params.name) is None:
        raise NoSuchTool
    called = await in_thread(_called)(visit, proposal_of(visit, params.name))
    found = await in_thread(own_call)(visit.bearer.actor, called.step_id)
    as_task = tasks.are_declared(ctx)
    if is_held(found) and not as_task and _opens_pages(ctx) and params.input_responses is None:
        return _page_to_open(visit, found)
    view = await settled(visit, called.step_id, people=0 if as_task else hold_seconds(visit), tell=tell_of(ctx))
    await still_welcome(visit)
    if as_task and not is_settled(view):
        return tasks.handle(view)
    return result_of(visit, view, repeated=called.attached and is_settled(found))


def _opens_pages(ctx: Context) -> bool:
    """Whether this client can ask its user to open an address (in the modern era, where asking needs no session)."""
    able = ctx.session.client_capabilities
    asks = able is not None and able.elicitation is not None and able.elicitation.url is not None
    return asks and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _page_to_open(visit: Visit, view: StepView) -> InputRequiredResult:
    """The request's page, where who signs in is who decides: opening it approves nothing."""
    message = "A person must approve this call. Open its page, or send it to somebody who may."
    page = ElicitRequest(params=ElicitRequestURLParams(message=message, url=approve_url(visit, view.requests[-1].id)))
    return InputRequiredResult(input_requests={"approval": page}, request_state=str(view.step.id))


def arguments(visit: Visit) -> dict[str, Any]:
    """The call's arguments, exact."""
    given = visit.param("arguments")
    return given if isinstance(given, dict) else {}


def proposal_of(visit: Visit, name: str) -> ToolProposal:
    """The call as the engine takes it; arguments that cannot be kept exactly are refused by it."""
    if visit.body is None:
        return ToolProposal(name, {}, fault=Refusal("invalid_arguments", visit.fault, retryable=True))
    again, why = visit.meta.get(AGAIN, 0), visit.meta.get(WHY, "")
    wanted = again if isinstance(again, int) and 0 <= again <= 1000 else 0
    return ToolProposal(name, arguments(visit), why=str(why)[:2000], again=int(wanted))


def tell_of(ctx: Context) -> Tell:
    """Progress, where the client asked for it."""

    async def tell(seconds: float, message: str) -> None:
        await ctx.session.report_progress(seconds, None, message)

    return tell


def _run_of(visit: Visit, named: object) -> UUID:
    """The run that the call names, else that of the address, else the grant's, which its first call begins."""
    run = own_tools.offer_for(visit, named).run if named is not None else None
    if run is not None:
        return run.id
    if visit.run_id is not None:
        return visit.run_id
    idle, trace = env().agentops_mcp_idle_seconds, visit.caller_trace
    return run_of_grant(visit.bearer.actor, visit.bearer.grant, visit.agent, idle_seconds=idle, traceparent=trace)


def _called(visit: Visit, proposal: ToolProposal) -> Called:
    key, given = handle_key_of(visit, proposal.tool), arguments(visit)
    if key not in given:
        return call(visit.bearer.actor, _run_of(visit, None), proposal)
    own = {name: value for name, value in given.items() if name != key}
    return call(visit.bearer.actor, _run_of(visit, given[key]), replace(proposal, args=own))
