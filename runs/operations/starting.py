"""Starts a run, once for one idempotency key."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from pydantic import ValidationError

from agentops.after_commit import nudge_later
from agentops.telemetry.context import read_traceparent
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor, requesters
from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import Membership
from agentops.tenancy.scopes import RUNS_ON_BEHALF, RUNS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.policy import Policy
from runs import ledger
from runs.book import Book, Rights
from runs.current_agents import current_agent
from runs.domain.budget import Counters, Limits, default_limits
from runs.domain.errors import BudgetAboveLimit, IdempotencyMismatch, InvalidRequest, UnknownAgent, UnknownWorkflow
from runs.domain.run import RunStatus
from runs.masking import mask_result, seal_input
from runs.models import Run, StartRecord, WorkItem
from tools.domain.canonical import Json, canonical, parse
from tools.domain.errors import WorkflowNotFound
from tools.domain.secret_schemas import NOTHING_SECRET
from tools.domain.workflow import MAX_HANDLE
from tools.workflow_handles import handle_at

ROUTE = "/api/v1/runs"
MAX_TASK = 20_000


@dataclass(frozen=True)
class _Once:
    """What makes this request the same as another of the principal."""

    route: str
    key: str
    body_hash: str


@dataclass(frozen=True)
class _Extras:
    """What few runs have: a workflow (its name and the handle), an end when idle, a caller's trace."""

    workflow: tuple[str, str] | None
    idle_seconds: int | None
    traceparent: str


@dataclass(frozen=True)
class Started:
    """`created` is false when the same request was made before."""

    run_id: UUID
    created: bool


def start_run(
    actor: Actor,
    *,
    agent: str,
    task: str,
    given: Json = None,
    budget: dict[str, Any] | None = None,
    on_behalf_of: str | None = None,
    workflow: tuple[str, str] | None = None,
    key: str | None = None,
    route: str = ROUTE,
    idle_seconds: int | None = None,
    traceparent: str = "",
) -> Started:
    """Start a run of the agent named `agent`. `given`: its input, a JSON object. `workflow`: its name and the handle.
    `traceparent`: the caller's header as it came; one that is not valid is none.

    `idle_seconds`: the run ends when nothing was called for so long.

    Raises UnknownAgent, UnknownWorkflow, InvalidRequest, BudgetAboveLimit, IdempotencyMismatch, ScopeMissing.
    """
    require_scope(actor, RUNS_WRITE)
    _check_task(task)
    wanted = _limits(budget or {})
    body = {"agent": agent, "task": task, "input": given or {}, "budget": budget or {}, "on_behalf_of": on_behalf_of}
    body |= {"workflow": list(workflow)} if workflow else {}
    once = None if key is None else _Once(route, key, sha256(canonical(body).encode()).hexdigest())
    extras = _Extras(workflow, idle_seconds, read_traceparent(traceparent))
    for _ in range(2):
        try:
            return _start(actor, agent, task, given or {}, wanted, on_behalf_of, once, extras)
        except IntegrityError:
            if once is None:
                raise
    raise IdempotencyMismatch  # pragma: no cover - the second look finds the first one's record


def _start(
    actor: Actor,
    slug: str,
    task: str,
    given: Json,
    wanted: Limits,
    behalf: str | None,
    once: _Once | None,
    extras: _Extras,
) -> Started:
    with tenant_transaction(actor.tenant_id):
        if once is not None and (earlier := _earlier(actor, once)) is not None:
            if earlier.body_hash != once.body_hash:
                raise IdempotencyMismatch
            return Started(earlier.run_id, created=False)
        run = _new_run(actor, slug, task, given, wanted, behalf)
        run.idle_seconds, run.traceparent = extras.idle_seconds, extras.traceparent
        place = _enter(run, extras.workflow) if extras.workflow else {}
        work = WorkItem(id=run.id, tenant_id=run.tenant_id, queue="control")
        book = Book(
            run=run,
            work=work,
            agent=run.agent_version,
            tenant_slug="",
            tenant_active=True,
            rights=Rights(frozenset()),
            policy=Policy(),
            tools={},
            now=run.created_at,
        )
        book.add(run)
        book.add(work)
        if once is not None:
            book.add(_record(actor, once, run))
        book.note("run.started", actor.label, agent=slug, task=task, input=parse(run.input), principal=run.principal,
                  limits=parse(run.limits), requesters=[str(r) for r in run.requesters], **place)  # fmt: skip
        _make_due(book)
        ledger.write(book)
    return Started(run.id, created=True)


def _make_due(book: Book) -> None:
    """An outside agent acts by itself, so that only the end of its run's time is waited for."""
    if book.agent.planner == "external":
        ends = (book.deadline(), book.idle_at())
        book.work.due_at = min((moment for moment in ends if moment is not None), default=None)
    else:
        book.work.due_at = book.now
        nudge_later("control", book.run.id)


def _enter(run: Run, workflow: tuple[str, str]) -> dict[str, Json]:
    """The run stands where the handle does; a handle that nobody named before begins."""
    name, handle = workflow
    if not handle.strip() or len(handle) > MAX_HANDLE or "\0" in handle:
        raise InvalidRequest(f"A handle has 1 to {MAX_HANDLE} characters.", pointer="/workflow/handle")
    try:
        run.workflow_at = handle_at(run.tenant_id, name, handle)
    except WorkflowNotFound:
        raise UnknownWorkflow(f"There is no workflow {name!r}.", pointer="/workflow/name") from None
    return {"workflow": {"name": name, "handle": handle}}


def _check_task(task: str) -> None:
    if not task.strip():
        raise InvalidRequest("The task is empty.", pointer="/task")
    if len(task) > MAX_TASK:
        raise InvalidRequest(f"The task has more than {MAX_TASK} characters.", pointer="/task")
    if "\0" in task:
        raise InvalidRequest("The task holds U+0000.", pointer="/task")


def _limits(budget: dict[str, Any]) -> Limits:
    try:
        return Limits.model_validate(budget)
    except ValidationError as error:
        fault = error.errors()[0]
        pointer = "/budget/" + "/".join(str(p) for p in fault["loc"])
        if fault["type"] == "less_than_equal":
            raise BudgetAboveLimit(f"{pointer}: {fault['msg']}", pointer=pointer) from None
        raise InvalidRequest(f"{pointer}: {fault['msg']}", pointer=pointer) from None


def _earlier(actor: Actor, once: _Once) -> StartRecord | None:
    return StartRecord.objects.filter(
        tenant_id=actor.tenant_id, principal=actor.principal, route=once.route, key=once.key
    ).first()


def _record(actor: Actor, once: _Once, run: Run) -> StartRecord:
    return StartRecord(
        tenant_id=actor.tenant_id,
        principal=actor.principal,
        route=once.route,
        key=once.key,
        body_hash=once.body_hash,
        run_id=run.id,
        created_at=run.created_at,
    )


def _new_run(actor: Actor, slug: str, task: str, given: Json, wanted: Limits, behalf: str | None) -> Run:
    now = current_agent(actor.tenant_id, slug)
    if now is None:
        raise UnknownAgent(f"There is no enabled agent {slug!r}.", pointer="/agent")
    version = now.version
    ceiling = default_limits(parse(now.team_budget), parse(version.budget))
    above = wanted.above(ceiling)
    if above is not None:
        raise BudgetAboveLimit(f"The agent allows less: {above}.", pointer=f"/budget/{above}")
    people, acting_for = _people(actor, behalf)
    run_id = uuid7()
    shown = mask_result(actor.tenant_id, given, NOTHING_SECRET, now.known_secrets)
    return Run(
        id=run_id,
        tenant_id=actor.tenant_id,
        agent_version=version,
        agent_slug=slug,
        agent_name=now.agent.name,
        task=task,
        input=canonical(shown),
        sealed_input=None if shown == given else seal_input(actor.tenant_id, run_id, given),
        status=RunStatus.PLANNING.value,
        principal=actor.principal,
        key_id=actor.key_id,
        started_by=actor.label,
        acting_for=acting_for,
        requesters=sorted(people),
        limits=ceiling.lowered_by(wanted).model_dump_json(exclude_none=True),
        used=Counters().model_dump_json(),
        reserved=Counters().model_dump_json(),
        created_at=now.at,
    )


def _people(actor: Actor, behalf: str | None) -> tuple[frozenset[UUID], str]:
    people = requesters(actor)
    if behalf is None:
        return people, actor.label
    require_scope(actor, RUNS_ON_BEHALF)
    member = Membership.objects.filter(tenant_id=actor.tenant_id, user__email=behalf.lower()).first()
    if member is None:
        raise InvalidRequest("on_behalf_of names nobody in this tenant.", pointer="/on_behalf_of")
    return people | {member.user_id}, behalf
