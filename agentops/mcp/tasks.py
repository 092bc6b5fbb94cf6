"""The extension `io.modelcontextprotocol/tasks` (SEP-2663): a call that waits is a task that its client asks about."""

from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, INVALID_PARAMS, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentops.mcp.rendering import result_of
from agentops.mcp.threads import in_thread
from agentops.mcp.visit import Visit, here
from runs.domain.errors import NotHeld, StepNotFound
from runs.domain.step import FINAL, StepStatus
from runs.operations.withdrawing import withdraw
from runs.queries import StepView
from runs.readback import own_call

EXTENSION: Final = "io.modelcontextprotocol/tasks"
POLL_MS: Final = 5000
KEPT_MS: Final = 86_400_000
type Context = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """Which task; what else a client sends is not for us."""

    task_id: str


def are_declared(ctx: Context) -> bool:
    """Whether this client said that it understands tasks."""
    able = ctx.session.client_capabilities
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in ((able and able.extensions) or {})


def handle(view: StepView) -> dict[str, Any]:
    """Instead of a result: the task that the call has become."""
    return {"resultType": "task", **_task(view)}


def add_to(server: Server[Any]) -> None:
    """Serve the extension's methods."""
    server.extensions = {**server.extensions, EXTENSION: {}}
    server.add_request_handler("tasks/get", TaskParams, _get)
    server.add_request_handler("tasks/update", TaskParams, _update)
    server.add_request_handler("tasks/cancel", TaskParams, _cancel)


async def _get(ctx: Context, params: TaskParams) -> dict[str, Any]:
    visit = here()
    view = await _named(ctx, visit, params)
    body = {"resultType": "complete", **_task(view)}
    if body["status"] != "completed":
        return body
    return {**body, "result": result_of(visit, view).model_dump(by_alias=True, mode="json", exclude_none=True)}


async def _update(ctx: Context, params: TaskParams) -> dict[str, Any]:
    """No task of ours asks its caller for anything: whoever calls does not approve."""
    await _named(ctx, here(), params)
    return {"resultType": "complete"}


async def _cancel(ctx: Context, params: TaskParams) -> dict[str, Any]:
    visit = here()
    view = await _named(ctx, visit, params)
    # Else it is being made, or it has settled: asking about it tells which.
    with suppress(NotHeld):
        await in_thread(withdraw)(visit.bearer.actor, view.step.run_id, view.step.id)
    return {"resultType": "complete"}


async def _named(ctx: Context, visit: Visit, params: TaskParams) -> StepView:
    header = ctx.request.headers.get("mcp-name") if ctx.request is not None else None
    if header is not None and header != params.task_id:
        raise MCPError(HEADER_MISMATCH, "Mcp-Name is not the task's id.")
    try:
        return await in_thread(own_call)(visit.bearer.actor, UUID(params.task_id), run_id=visit.run_id)
    except (ValueError, StepNotFound):
        raise MCPError(INVALID_PARAMS, "Unknown task.") from None


def _task(view: StepView) -> dict[str, Any]:
    step = view.step
    status, message = _standing(StepStatus(step.status))
    request = view.requests[-1] if view.requests else None
    ends = None if request is None else int((request.expires_at - step.created_at).total_seconds() * 1000)
    return {
        "taskId": str(step.id),
        "status": status,
        "statusMessage": message,
        "createdAt": step.created_at.isoformat(),
        "lastUpdatedAt": (step.settled_at or step.started_at or step.created_at).isoformat(),
        "ttlMs": max(KEPT_MS, ends or 0),
        "pollIntervalMs": POLL_MS,
    }


def _standing(status: StepStatus) -> tuple[str, str]:
    if status is StepStatus.HELD:
        return "working", "Waiting for a person's approval."
    if status is StepStatus.UNKNOWN:
        return "working", "The call may have been made; people look at it."
    if status is StepStatus.WITHDRAWN:
        return "cancelled", "Taken back before it was made."
    return ("completed", "Settled.") if status in FINAL else ("working", "The call is being made.")
