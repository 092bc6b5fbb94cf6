"""What a client reads of a call: its result, what it waits for, or why it was not made."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from mcp_types import CallToolResult, TextContent

from agentops.domain_error import DomainError
from agentops.mcp.profiles import poll_seconds
from agentops.mcp.visit import Visit
from runs.domain.step import StepStatus
from runs.queries import StepView
from tools.domain.canonical import Json, canonical, parse

RUN, STEP, REPEATED = "agentops/run", "agentops/step", "agentops/repeated"
_FORBIDDEN: Final = frozenset(
    {"tool_denied", "state_forbidden", "policy_denied", "approval_rejected", "rejected_before", "grant_rests"}
)
_AGAIN: Final = "This very call was made before in this run; this is its recorded result. Nothing was done again."


def result_of(visit: Visit, view: StepView, *, repeated: bool = False) -> CallToolResult:
    """The call as it stands. `repeated`: it had settled before it was asked for."""
    match StepStatus(view.step.status):
        case StepStatus.SUCCEEDED:
            said = _observed(view)
        case StepStatus.HELD:
            said = answer(_pending(visit, view))
        case StepStatus.UNKNOWN:
            said = answer(_unknown(view), is_error=True)
        case StepStatus.CLEARED | StepStatus.RUNNING | StepStatus.STALE | StepStatus.PROPOSED:
            said = answer({"status": "running", "step_id": str(view.step.id), "next": _next(visit, view)})
        case _:
            said = _not_made(view)
    meta: dict[str, Any] = {RUN: str(view.step.run_id), STEP: str(view.step.id)}
    if repeated:
        meta[REPEATED] = True
        said.content.append(TextContent(type="text", text=_AGAIN))
    said.meta = {**(said.meta or {}), **meta}
    return said


def answer(value: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    """An object, as text and as structure."""
    text = TextContent(type="text", text=canonical(value))
    return CallToolResult(content=[text], structured_content=as_numbers(value), is_error=is_error)


def refused(error: DomainError, **more: Any) -> CallToolResult:
    """A refusal of ours that has no step."""
    return refusal({"code": error.code, "message": error.message, **_plain(error.details), **more})


def refusal(body: Mapping[str, Any]) -> CallToolResult:
    """Why a call was not made, in words that a model can act on."""
    code = str(body.get("code", "tool_failed"))
    kind = "FORBIDDEN" if code in _FORBIDDEN else code.upper()
    return answer({"error": kind, **body}, is_error=True)


def as_numbers(value: Json) -> Any:
    """For writers that know no Decimal: the nearest double. The text beside it has every digit."""
    match value:
        case Decimal():
            return float(value)
        case list():
            return [as_numbers(item) for item in value]
        case dict():
            return {key: as_numbers(item) for key, item in value.items()}
        case _:
            return value


def _observed(view: StepView) -> CallToolResult:
    seen = view.observation or {"content": "null", "truncated": False}
    text = TextContent(type="text", text=seen["content"])
    if seen["truncated"]:
        return CallToolResult(content=[text], structured_content={"truncated": True, "text": seen["content"]})
    value = parse(seen["content"])
    if isinstance(value, dict):
        return CallToolResult(content=[text], structured_content=as_numbers(value))
    return CallToolResult(content=[text])


def _pending(visit: Visit, view: StepView) -> dict[str, Any]:
    request = view.requests[-1]
    return {
        "status": "pending_approval",
        "approval_id": str(request.id),
        "approve_url": approve_url(visit, request.id),
        "expires_at": request.expires_at.isoformat(),
        "message": "A person must approve this call. Ask for one, then call the tool named in `next`.",
        "next": _next(visit, view),
    }


def approve_url(visit: Visit, request_id: UUID) -> str:
    """The page where people decide on this request."""
    return f"{visit.origin}/approvals/{request_id}"


def _next(visit: Visit, view: StepView) -> dict[str, Any]:
    held = view.step.status == StepStatus.HELD.value
    named = {"approval_id": str(view.requests[-1].id)} if held else {"step_id": str(view.step.id)}
    return {"tool": "approval_wait", "arguments": {**named, "timeout_s": int(poll_seconds(visit))}}


def _unknown(view: StepView) -> dict[str, Any]:
    return {
        "error": "OUTCOME_UNKNOWN",
        "code": "outcome_unknown",
        "step_id": str(view.step.id),
        "message": "The call may have been made. People look at it; do not make it again under other arguments.",
    }


def _not_made(view: StepView) -> CallToolResult:
    if view.refusal is not None:
        return refusal(view.refusal)
    if view.step.status == StepStatus.WITHDRAWN.value:
        return refusal({"code": "withdrawn", "message": "The call was taken back before it was made."})
    seen: Any = parse((view.observation or {"content": "{}"})["content"])
    fault = seen.get("error") if isinstance(seen, dict) else None
    return refusal(fault if isinstance(fault, dict) else {"code": "tool_failed", "message": "The call failed."})


def _plain(details: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if isinstance(value, str | int | bool | None)}
