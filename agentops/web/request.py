"""One request for a person's decision, from the question to the result of the call."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from agentops.tenancy.actor import Actor
from agentops.web.bars import Bar, bars, with_this
from agentops.web.conditions import Condition, changes, conditions
from agentops.web.exact import as_fields, folds_of
from agentops.web.member import MemberRequest, member, show
from agentops.web.origins import origins
from approvals.domain.decision import RequestStatus
from approvals.queries import RequestView
from approvals.queries import request as request_of
from runs import queries as runs
from runs.operations.rechecking import recheck
from tools.domain import templates

PARTS = ("standing", "effects", "bar")
PRESETS = ("The values are wrong.", "This is not needed.", "The destination is not known to us.", "Not at this time.")
EARLIER_SHOWN = 8


@require_safe
@member
def request_page(request: MemberRequest, request_id: UUID) -> HttpResponse:
    """The request; `?step=` opens the confirmation of a decision, `?unfold=1` shows long values whole."""
    context = page_of(request.actor, request_id)
    context |= {"step_asked": request.GET.get("step", ""), "unfold": request.GET.get("unfold") == "1"}
    return show(request, "approvals/request.html", context, parts=PARTS)


@require_POST
@member
def checks(request: MemberRequest, request_id: UUID) -> HttpResponse:
    """Read the conditions again."""
    recheck(request.actor, request_id)
    if request.htmx:
        return show(request, "approvals/request.html", page_of(request.actor, request_id), parts=PARTS)
    return redirect("request", request_id)


def page_of(actor: Actor, request_id: UUID) -> dict[str, Any]:
    """Everything that the page shows."""
    view = request_of(actor, request_id)
    row, snapshot = view.request, view.snapshot
    shown = as_fields(snapshot["args"], snapshot["schema"])
    run, steps = runs.run(actor, row.run_id), runs.steps(actor, row.run_id)
    step = next(s for s in steps if s.step.id == row.step_id)
    failing = [c for c in view.checks if c.get("ok") is False]
    earlier = [s for s in steps if (s.step.turn, s.step.index) < (step.step.turn, step.step.index)]
    return {
        "view": view,
        "row": row,
        "snapshot": snapshot,
        "headline": templates.parts(snapshot["summary"]["template"], {"args": snapshot["args"]}),
        "fields": shown,
        "origins": origins(shown, snapshot.get("provenance")),
        "folds": sorted(folds_of(snapshot)),
        "is_guarded": row.risk != "read",
        "run": run,
        "step": step,
        "is_current": step.step.request_id == row.id,
        "is_requester": actor.user_id in row.requesters,
        "failing": failing,
        "conditions": conditions(view.checks),
        "needs_target": row.risk == "destructive",
        "has_edge_space": snapshot["target"] != snapshot["target"].strip(),
        "bars": _bars(view, run.budget),
        "earlier": earlier[-EARLIER_SHOWN:],
        "untrusted": [s for s in earlier if s.observation and s.observation["trust"] == "untrusted"][-EARLIER_SHOWN:],
        "changes": _changes(actor, view),
        "presets": PRESETS,
        "stamp": f"{row.version}.{row.checked_at}.{step.step.status}.{len(step.attempts)}.{run.run.status}",
    }


def _bars(view: RequestView, budget: Mapping[str, Any]) -> list[Bar]:
    """While it waits, with what this call would take; afterwards that is in the run's own figures."""
    waits = view.request.status == RequestStatus.PENDING.value
    return with_this(budget, view.snapshot["budget"]["this"]) if waits else bars(budget)


def _changes(actor: Actor, view: RequestView) -> list[Condition]:
    """What differs between this request and the one that it replaced or that replaced it, old to new."""
    row = view.request
    other_id = row.superseded_by or row.supersedes
    if other_id is None:
        return []
    other = request_of(actor, other_id)
    old, new = (view, other) if row.superseded_by else (other, view)
    return changes(old.snapshot.get("conditions") or [], new.snapshot.get("conditions") or [])
