"""One run opened under its lock: its rows in memory, and what is about to be written about it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Model
from pydantic import SecretStr

from agentops.chain import link_hash
from agentops.tenancy.ids import uuid7
from approvals.domain.decision import RequestStatus
from approvals.domain.policy import Policy
from approvals.models import ApprovalRequest, Decision
from runs.domain import run as run_machine
from runs.domain import step as step_machine
from runs.domain.budget import Counters, Limits, read_counters, read_limits
from runs.domain.model_call import ModelCall
from runs.domain.run import RunEvent, RunStatus
from runs.domain.step import OPEN, StepEvent, StepStatus
from runs.models import AgentVersion, Attempt, Event, ModelRequest, Observation, Proposal, Run, Step, WorkItem
from runs.rows import new_row
from tools.call import PinnedTool
from tools.domain.canonical import Json, canonical
from tools.workflow_handles import Movable

MACHINE = "agentops"
CLOCK = "agentops: clock"


@dataclass(frozen=True)
class Rights:
    """What the run's principal may do now; `lost` says why it may do nothing."""

    scopes: frozenset[str]
    lost: str = ""


@dataclass(frozen=True)
class ToolNow:
    """A tool of the agent as it stands now."""

    enabled: bool
    quarantined: bool
    pinned: PinnedTool


@dataclass
class Book:
    """Everything an operation reads of one run, and the changes that `ledger.write` turns into one statement."""

    run: Run
    work: WorkItem
    agent: AgentVersion
    tenant_slug: str
    tenant_active: bool
    rights: Rights
    policy: Policy
    tools: dict[str, ToolNow]
    now: datetime
    opened_at: float = field(default_factory=time.monotonic)
    readers: dict[str, PinnedTool] = field(default_factory=dict)
    credentials: dict[str, SecretStr] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    proposals: dict[UUID, Proposal] = field(default_factory=dict)
    attempts: dict[UUID, Attempt] = field(default_factory=dict)
    requests: dict[UUID, ApprovalRequest] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    roles: dict[UUID, frozenset[str]] = field(default_factory=dict)
    observations: dict[UUID, Observation] = field(default_factory=dict)
    added: list[Model] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    loaded: dict[tuple[type[Model], Any], dict[str, Any]] = field(default_factory=dict)
    hops: list[tuple[UUID, str]] = field(default_factory=list)
    changed_requests: set[UUID] = field(default_factory=set)
    closed: list[Attempt] = field(default_factory=list)
    model_calls: list[ModelCall] = field(default_factory=list)
    probing: bool = False
    workflow: Movable | None = None
    model_request: ModelRequest | None = None
    ended_model_request: ModelRequest | None = None

    @property
    def known_secrets(self) -> frozenset[str]:
        """The tenant's stored bearers: a leaf that holds one is secret."""
        return frozenset(secret.get_secret_value() for secret in self.credentials.values())

    @property
    def limits(self) -> Limits:
        return read_limits(self.run.limits)

    @property
    def used(self) -> Counters:
        return read_counters(self.run.used)

    @property
    def reserved(self) -> Counters:
        return read_counters(self.run.reserved)

    @property
    def is_final(self) -> bool:
        return RunStatus(self.run.status) in run_machine.FINAL

    def open_steps(self) -> list[Step]:
        return [s for s in self.steps if StepStatus(s.status) in OPEN]

    def in_status(self, *statuses: StepStatus) -> list[Step]:
        return [s for s in self.steps if StepStatus(s.status) in statuses]

    def request_of(self, step: Step) -> ApprovalRequest | None:
        return self.requests.get(step.request_id) if step.request_id else None

    def step_of(self, request: ApprovalRequest) -> Step:
        return next(s for s in self.steps if s.id == request.step_id)

    def reader(self, name: str) -> PinnedTool | None:
        """The read tool of a probe, whether or not the agent has it; None when it cannot be used now."""
        mine = self.tools.get(name)
        found = mine.pinned if mine else self.readers.get(name)
        usable = found is not None and found.enabled and not found.quarantined and not found.spec.is_mutation
        return found if usable else None

    def votes_for(self, request: ApprovalRequest) -> dict[UUID, frozenset[str]]:
        """Who approved this request, each with the roles that they have now."""
        approvals = (d for d in self.decisions if d.request_id == request.id and d.verdict == "approve")
        return {d.user_id: self.roles.get(d.user_id, frozenset()) for d in approvals}

    def close_request(self, request: ApprovalRequest, status: RequestStatus) -> None:
        """Take a pending request away from people. An approved one stays what it is, unless superseded."""
        if request.status == RequestStatus.PENDING.value or status is RequestStatus.SUPERSEDED:
            request.status = status.value
            request.decided_at = self.now
            request.version += 1
            self.changed_requests.add(request.id)

    def close_attempt(self, attempt: Attempt, outcome: str, detail: str) -> None:
        """Say how it ended; the step may be tried again in the same transaction."""
        attempt.outcome, attempt.detail, attempt.finished_at = outcome, detail, self.now
        self.closed.append(self.attempts.pop(attempt.step_id))

    def charge(self, *, use: dict[str, Any] | None = None, reserve: dict[str, Any] | None = None) -> None:
        """Move the counters; a negative reservation releases."""
        if use:
            self.run.used = self.used.plus(**use).model_dump_json()
        if reserve:
            self.run.reserved = self.reserved.plus(**reserve).model_dump_json()

    def add(self, row: Model) -> None:
        """A new row, written with everything else."""
        self.added.append(row)

    def record(self, step: Step, event: StepEvent, actor: str = MACHINE, **data: Json) -> None:
        """Move a step and say so: the only way to change a step's status."""
        self.hops.append((step.id, step.status))
        step.status = step_machine.after(StepStatus(step.status), event).value
        place: dict[str, Json] = {"step": str(step.id), "turn": step.turn, "index": step.index, "status": step.status}
        self.note(f"step.{event}", actor, **place, **data)
        if StepStatus(step.status) not in OPEN:
            step.settled_at = self.now
        if self.workflow is not None:
            self._follow(self.workflow, step, actor)

    def _follow(self, workflow: Movable, step: Step, actor: str) -> None:
        """A call that starts takes the workflow; its success moves it, an unknown outcome keeps it."""
        status = StepStatus(step.status)
        if status is StepStatus.RUNNING:
            workflow.take(step.id, step.tool)
        elif workflow.taken_by == step.id and status is StepStatus.SUCCEEDED:
            self.note("workflow_moved", actor, step=str(step.id), **workflow.move())
        elif workflow.taken_by == step.id and status is not StepStatus.UNKNOWN:
            workflow.give_back()

    def record_run(self, event: RunEvent, actor: str = MACHINE, **data: Json) -> None:
        """Move the run and say so: the only way to change a run's status."""
        before = self.run.status
        self.run.status = run_machine.after(RunStatus(before), event).value
        self.note(f"run.{event}", actor, **{"from": before}, **data)

    def note(self, kind: str, actor: str = MACHINE, **data: Json) -> None:
        """Append an event to the run's chain."""
        run, text = self.run, canonical(data)
        run.event_seq += 1
        digest = link_hash(run.head, run.tenant_id, run.id, run.event_seq, kind, actor, self.now, text)
        row = new_row(
            Event,
            id=uuid7(),
            tenant_id=run.tenant_id,
            run_id=run.id,
            seq=run.event_seq,
            kind=kind,
            actor=actor,
            at=self.now,
            data=text,
            hash=digest,
            prev_hash=run.head,
        )
        run.head = digest
        self.events.append(row)

    def settle_status(self) -> None:
        """Derive the run's status from its steps, and account for the time in which only people were awaited."""
        if self.is_final:
            return
        status = run_machine.status_of((StepStatus(s.status) for s in self.steps), probing=self.probing)
        if status.value != self.run.status:
            self.record_run(RunEvent(status.value))
        self._account_waiting(status is RunStatus.AWAITING_APPROVAL)

    def next_lookup(self) -> datetime | None:
        """When an unknown call is looked up next, in a run that has ended too."""
        moments = (s.lookup_at for s in self.in_status(StepStatus.UNKNOWN) if s.lookup_at is not None)
        return min(moments, default=None)

    def stop_waiting(self) -> None:
        self._account_waiting(waiting=False)

    def deadline(self) -> datetime | None:
        """When the run's seconds end; None while only people are awaited, or without a limit."""
        seconds = self.limits.seconds
        if seconds is None or self.run.waiting_since is not None:
            return None
        return self.run.created_at + timedelta(seconds=seconds + self.run.waited_seconds)

    def idle_at(self) -> datetime | None:
        """When nobody will have asked for anything for as long as the run waits for that; None: it does not end so."""
        if self.run.idle_seconds is None or self.open_steps():
            return None
        last = max((s.settled_at or s.created_at for s in self.steps), default=self.run.created_at)
        return last + timedelta(seconds=self.run.idle_seconds)

    def _account_waiting(self, waiting: bool) -> None:
        run = self.run
        if waiting and run.waiting_since is None:
            run.waiting_since = self.now
        elif not waiting and run.waiting_since is not None:
            run.waited_seconds += (self.now - run.waiting_since).total_seconds()
            run.waiting_since = None


def rows_of(book: Book) -> Iterable[Model]:
    """Every row that was loaded and may have changed."""
    yield from (book.run, book.work)
    yield from book.steps
    yield from book.requests.values()
    yield from book.attempts.values()
    yield from book.closed
    yield from filter(None, [book.model_request])
