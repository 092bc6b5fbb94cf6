"""What doors read of runs and of requests together: values, evaluated, inside one tenant transaction each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import RequestStatus
from approvals.models import ApprovalRequest, Decision
from runs.domain.errors import RunNotFound, StepNotFound
from runs.domain.step import OPEN
from runs.models import Agent, Attempt, Event, Run, Step
from runs.sayings import Saying, sayings
from runs.standings import standings
from runs.tracing import trace_id
from tools.domain.canonical import Json, parse
from tools.domain.standing import Standing

COUNT_UP_TO = 1000

__all__ = ["Agent", "Attempt", "Event", "Page", "Run", "RunView", "Step", "StepView"]


@dataclass(frozen=True)
class Page[T]:
    """One page of a list. `count` is None above `COUNT_UP_TO`. `after`: the last row's key, None on the last page."""

    rows: Sequence[T]
    count: int | None
    after: tuple[Any, ...] | None


@dataclass(frozen=True)
class RunView:
    """A run with its budgets as JSON, the requests that wait for people, and where its workflow stands."""

    run: Run
    budget: dict[str, Json]
    open_approvals: Sequence[UUID]
    workflow: Standing | None = None

    @property
    def trace_id(self) -> str:
        """Under which a collector of traces keeps it."""
        return trace_id(self.run)


@dataclass(frozen=True)
class StepView:
    """A step with everything that a page or REST shows of it."""

    step: Step
    args: Json
    args_text: str
    refusal: dict[str, Json] | None
    attempts: Sequence[Attempt]
    observation: dict[str, Any] | None
    requests: Sequence[ApprovalRequest] = field(default=())


def runs(
    actor: Actor,
    *,
    status: str | None = None,
    agent: str | None = None,
    created_after: datetime | None = None,
    search: str = "",
    after: tuple[Any, ...] | None = None,
    size: int = 25,
) -> Page[RunView]:
    """Newest first, by keyset `(created_at, id)`."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        rows = Run.objects.filter(tenant_id=actor.tenant_id)
        if status:
            rows = rows.filter(status=status)
        if agent:
            rows = rows.filter(agent_slug=agent)
        if created_after:
            rows = rows.filter(created_at__gt=created_after)
        if search:
            rows = rows.filter(task__icontains=search)
        count = capped_count(rows)
        if after is not None:
            rows = rows.filter(Q(created_at__lt=after[0]) | Q(created_at=after[0], id__lt=after[1]))
        found = list(rows.order_by("-created_at", "-id")[: size + 1])
        waiting = _open_approvals(actor.tenant_id, [r.id for r in found])
        places = standings(actor.tenant_id, found)
        views = [_run_view(r, waiting.get(r.id, ()), places.get(r.id)) for r in found[:size]]
        last = found[size - 1] if len(found) > size else None
        return Page(views, count, (last.created_at, last.id) if last else None)


def run(actor: Actor, run_id: UUID) -> RunView:
    """One run. Raises RunNotFound."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        row = _run(actor, run_id)
        waiting = _open_approvals(actor.tenant_id, [row.id]).get(row.id, ())
        return _run_view(row, waiting, standings(actor.tenant_id, [row]).get(row.id))


def steps(actor: Actor, run_id: UUID) -> list[StepView]:
    """Every step of a run in order. Raises RunNotFound."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        _run(actor, run_id)
        return step_views(Step.objects.filter(tenant_id=actor.tenant_id, run_id=run_id).order_by("turn", "index"))


def step(actor: Actor, step_id: UUID) -> StepView:
    """One step. Raises StepNotFound."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        found = step_views(Step.objects.filter(tenant_id=actor.tenant_id, id=step_id))
    if not found:
        raise StepNotFound
    return found[0]


def steps_of_turn(actor: Actor, run_id: UUID, turn: int) -> list[StepView]:
    """The steps of one turn. Raises RunNotFound."""
    with tenant_transaction(actor.tenant_id):
        _run(actor, run_id)
        rows = Step.objects.filter(tenant_id=actor.tenant_id, run_id=run_id, turn=turn).order_by("index")
        return step_views(rows)


def said_of(actor: Actor, step: Step) -> list[Saying]:
    """What people have said about an unknown step so far."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        return sayings(actor.tenant_id, step.run_id, step.id)


def events(actor: Actor, run_id: UUID, *, after: int = 0, size: int = 500) -> list[Event]:
    """A run's events with `seq` above `after`, in order. Raises RunNotFound."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        _run(actor, run_id)
        rows = Event.objects.filter(tenant_id=actor.tenant_id, run_id=run_id, seq__gt=after)
        return list(rows.order_by("seq")[:size])


def is_finished(actor: Actor, run_id: UUID) -> bool:
    """Whether nothing more can happen in a run but reconciliation."""
    with tenant_transaction(actor.tenant_id):
        row = _run(actor, run_id)
        open_statuses = [s.value for s in OPEN]
        open_steps = Step.objects.filter(tenant_id=actor.tenant_id, run_id=run_id, status__in=open_statuses)
        return row.finished_at is not None and not open_steps.exists()


def agents(actor: Actor) -> list[Agent]:
    """Every agent of the tenant, by name."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        return list(Agent.objects.filter(tenant_id=actor.tenant_id).select_related("current").order_by("slug"))


def agents_using(actor: Actor, tool: str) -> list[Agent]:
    """The agents whose current version has this tool."""
    with tenant_transaction(actor.tenant_id):
        rows = Agent.objects.filter(tenant_id=actor.tenant_id, current__tools__contains=[tool])
        return list(rows.order_by("slug"))


def capped_count(rows: QuerySet[Any]) -> int | None:
    """The number of rows, None when there are more than `COUNT_UP_TO`."""
    found = rows.order_by()[: COUNT_UP_TO + 1].count()
    return found if found <= COUNT_UP_TO else None


def budget_of(row: Run) -> dict[str, Json]:
    """`limit`, `used`, `reserved` by budget key; absent limits are unlimited. Seconds count to now or the end."""
    figures_of: list[Any] = [parse(text) for text in (row.limits, row.used, row.reserved)]
    limit, used, reserved = figures_of
    currency = limit["money"]["currency"] if limit.get("money") else None
    for figures in (used, reserved):
        figures["money"] = {"amount": str(figures["money"]), "currency": currency}
    used["seconds"] = _seconds(row)
    return {"limit": limit, "used": used, "reserved": reserved}


def _seconds(row: Run) -> int:
    end = row.finished_at or row.waiting_since or timezone.now()
    return max(0, int((end - row.created_at).total_seconds() - row.waited_seconds))


def _run(actor: Actor, run_id: UUID) -> Run:
    row = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).select_related("agent_version").first()
    if row is None:
        raise RunNotFound
    return row


def _run_view(row: Run, waiting: Sequence[UUID], place: Standing | None) -> RunView:
    return RunView(row, budget_of(row), waiting, place)


def _open_approvals(tenant_id: UUID, run_ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    waiting: dict[UUID, list[UUID]] = {}
    rows = ApprovalRequest.objects.filter(
        tenant_id=tenant_id, run_id__in=run_ids, status=RequestStatus.PENDING.value
    ).order_by("opened_at", "id")
    for run_id, request_id in rows.values_list("run_id", "id"):
        waiting.setdefault(run_id, []).append(request_id)
    return waiting


def step_views(rows: QuerySet[Step]) -> list[StepView]:
    """These steps with what belongs to them; inside the caller's tenant transaction."""
    attempts = Prefetch("attempts", Attempt.objects.order_by("number"))
    found = list(rows.select_related("proposal", "observation").defer("proposal__sealed").prefetch_related(attempts))
    asked: dict[UUID, list[ApprovalRequest]] = {}
    if found:
        decisions = Prefetch("decisions", Decision.objects.order_by("at"))
        tenant_id = found[0].tenant_id
        requests = ApprovalRequest.objects.filter(tenant_id=tenant_id, step_id__in=[s.id for s in found])
        for request in requests.order_by("opened_at", "id").prefetch_related(decisions):
            asked.setdefault(request.step_id, []).append(request)
    return [_step_view(s, asked.get(s.id, ())) for s in found]


def _step_view(row: Step, requests: Iterable[ApprovalRequest]) -> StepView:
    text = row.proposal.args or "null"
    seen = getattr(row, "observation", None)
    refusal = parse(row.refusal) if row.refusal else None
    return StepView(
        step=row,
        args=parse(text),
        args_text=text,
        refusal=refusal if isinstance(refusal, dict) else None,
        attempts=list(row.attempts.all()),
        observation=seen
        and {"trust": seen.trust, "content": seen.content, "truncated": seen.truncated, "bytes": seen.bytes},
        requests=list(requests),
    )
