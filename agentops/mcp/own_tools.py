"""The door's own tools: where the run stands, waiting for people, taking a call back, and ending the run."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from mcp_types import CallToolResult

from agentops.mcp.listing import OWN_NAMES, RUN_KEY, require_offer
from agentops.mcp.profiles import poll_seconds
from agentops.mcp.rendering import answer, approve_url, result_of
from agentops.mcp.threads import in_thread
from agentops.mcp.visit import Visit
from agentops.mcp.waiting import Tell, settled, still_welcome
from runs import queries
from runs.domain.errors import InvalidRequest, RunNotFound, StepNotFound
from runs.offers import Offer, offer_of_run
from runs.operations.calling import finish
from runs.operations.withdrawing import withdraw
from runs.queries import StepView
from runs.readback import own_call, own_call_of_request

type OwnTool = Callable[[Visit, dict[str, Any], Tell], Awaitable[CallToolResult]]


async def _wait(visit: Visit, args: dict[str, Any], tell: Tell) -> CallToolResult:
    """A long poll. It only reads: the decision itself has sent the call to a worker."""
    view = await in_thread(_named)(visit, args)
    asked, longest = args.get("timeout_s"), poll_seconds(visit)
    wanted = max(0.0, float(asked)) if isinstance(asked, int | Decimal) else longest
    view = await settled(visit, view.step.id, people=min(wanted, longest), machines=0, tell=tell)
    await still_welcome(visit)
    return result_of(visit, view)


async def _cancel(visit: Visit, args: dict[str, Any], tell: Tell) -> CallToolResult:
    view = await in_thread(_named)(visit, args)
    await in_thread(withdraw)(visit.bearer.actor, view.step.run_id, view.step.id)
    return answer({"status": "withdrawn", "step_id": str(view.step.id)})


async def _finish(visit: Visit, args: dict[str, Any], tell: Tell) -> CallToolResult:
    run = (await in_thread(offer_for)(visit, args.get(RUN_KEY))).run
    if run is None:
        return answer({"status": "no_run", "message": "Nothing was called yet."})
    await in_thread(finish)(visit.bearer.actor, run.id, str(args.get("answer", ""))[:20_000])
    return answer({"status": "finished", "run_id": str(run.id)})


async def _status(visit: Visit, args: dict[str, Any], tell: Tell) -> CallToolResult:
    offer = await in_thread(offer_for)(visit, args.get(RUN_KEY))
    told = {**offer.told, "allowed": sorted([*offer.told["allowed"], *OWN_NAMES])}
    if offer.run is None:
        return answer({"status": "no_run", "agent": offer.agent, **told})
    view = await in_thread(queries.run)(visit.bearer.actor.reader(), offer.run.id)
    run = view.run
    body = {"status": run.status, "run_id": str(run.id), "agent": run.agent_slug, "turns": run.turns}
    ended = {"terminal_reason": run.terminal_reason} if run.terminal_reason else {}
    waiting = [
        {"approval_id": str(request_id), "approve_url": approve_url(visit, request_id)}
        for request_id in view.open_approvals
    ]
    return answer({**body, **ended, "budget": view.budget, "open_approvals": waiting, **told})


def offer_for(visit: Visit, named: object) -> Offer:
    """The offer of the run that a call names, or of the visit. A handle is no credential: it names a run of the
    caller's own, and on the address of a run that one alone, or none. Raises RunNotFound."""
    if named is None or (visit.run_id is not None and str(named) == str(visit.run_id)):
        return require_offer(visit)
    try:
        run_id = UUID(str(named))
    except ValueError:
        raise RunNotFound from None
    if visit.run_id is not None:
        raise RunNotFound
    return offer_of_run(visit.bearer.actor, run_id)


def _named(visit: Visit, args: dict[str, Any]) -> StepView:
    """The call that the arguments name, if it is the caller's own."""
    actor = visit.bearer.actor
    try:
        if approval_id := args.get("approval_id"):
            return own_call_of_request(actor, UUID(str(approval_id)), run_id=visit.run_id)
        return own_call(actor, UUID(str(args["step_id"])), run_id=visit.run_id)
    except KeyError:
        raise InvalidRequest("Name the call: approval_id or step_id.") from None
    except ValueError:
        raise StepNotFound from None


BY_NAME: Final[dict[str, OwnTool]] = {
    "approval_cancel": _cancel,
    "approval_wait": _wait,
    "finish": _finish,
    "workflow_status": _status,
}
