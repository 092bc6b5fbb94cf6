"""One run: where it stands, what it spent, and every step."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.web.bars import bars
from agentops.web.exact import as_fields
from agentops.web.graph import Graph
from agentops.web.graph import draw as draw_workflow
from agentops.web.machine import draw
from agentops.web.member import MemberRequest, member, show
from agentops.web.phases import phases
from agentops.web.waterfall import Fall, numbers, planning_began, segments, took
from runs import queries
from runs.domain.run import FINAL
from runs.domain.step import StepStatus
from runs.model_queries import model_calls
from runs.operations.cancelling import cancel
from tools.domain.canonical import parse

PARTS = ("run",)
MAX_REASON = 2000


@require_safe
@member
def run_page(request: MemberRequest, run_id: UUID) -> HttpResponse:
    """The run."""
    return show(request, "runs/run.html", page_of(request.actor, run_id), parts=PARTS)


@require_POST
@member
def cancellation(request: MemberRequest, run_id: UUID) -> HttpResponse:
    """Stop the run."""
    cancel(request.actor, run_id, reason=request.POST.get("reason", "").replace("\0", "")[:MAX_REASON])
    return redirect("run", run_id)


def page_of(actor: Actor, run_id: UUID) -> dict[str, Any]:
    """Everything that the page shows."""
    view, steps = queries.run(actor, run_id), queries.steps(actor, run_id)
    log = queries.events(actor, run_id)
    run = view.run
    asked = model_calls(actor, run)
    end = run.finished_at or max(timezone.now(), run.created_at)
    falls = _falls(steps, run.created_at, end, {call.turn: call.number for call in asked})
    return {
        "view": view,
        "run": run,
        "is_final": run.status in FINAL,
        "may_write": actor.allows(RUNS_WRITE),
        "machine": draw(run.status, phases(run.status, [event.kind for event in log])),
        "workflow": view.workflow,
        "graph": _graph(view, log),
        "bars": bars(view.budget),
        "asked": [ask for v in steps for ask in v.requests if ask.id in view.open_approvals],
        "falls": falls,
        "unknown": [fall for fall in falls if fall.view.step.status == StepStatus.UNKNOWN],
        "model_calls": asked,
        "end": end,
        "answer": run.answer,
        "input_fields": as_fields(parse(run.input), {}),
        "log_size": run.event_seq,
    }


def _graph(view: queries.RunView, log: list[queries.Event]) -> Graph | None:
    """The run's workflow with its present state, and the moves that this run made."""
    at = view.workflow
    told: list[Any] = [parse(event.data) for event in log if event.kind == "workflow_moved"]
    return draw_workflow(at.spec, state=at.state, walked=[(one["from"], one["to"]) for one in told]) if at else None


def _falls(steps: list[queries.StepView], start: Any, end: Any, asked: Mapping[int, int]) -> list[Fall]:
    began = planning_began(steps, start)
    return [
        Fall(v, segments(v, at, start, end), took(v, end), as_fields(v.args, {}), number, asked.get(v.step.turn))
        for v, at, number in zip(steps, began, numbers(steps), strict=True)
    ]
