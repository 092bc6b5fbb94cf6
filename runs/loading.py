"""Opens a run under its lock: two statements in one trip, the second short after a call; one more for a workflow or
a model."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from approvals.domain.errors import ApprovalNotFound
from approvals.models import ApprovalRequest, Decision
from runs.book import Book
from runs.circumstances import MEMBERS, OF_RUN, PARTS, circumstances
from runs.domain.errors import RunNotFound
from runs.domain.step import StepStatus
from runs.models import AgentVersion, Attempt, ModelRequest, Proposal, Run, Step, WorkItem
from runs.rows import ask, instance
from tools.workflow_handles import lock_handle

_TENANT = "nullif(current_setting('app.tenant', true), '')::uuid"
"""That of the lock which was taken in the same trip; without a lock nothing is found."""
_ENTER = """
WITH picked AS MATERIALIZED (
    SELECT id, tenant_id, queue, due_at, cancel_requested FROM runs_work_item WHERE {which}
)
SELECT to_jsonb(picked)::text, set_config('app.tenant', tenant_id::text, true),
  set_config('plan_cache_mode', 'force_generic_plan', true) FROM picked
"""
"""Left to choose, Postgres may plan what follows for each run anew: all of it goes by keys, and planning costs most."""
_LOCK = _ENTER.format(which="id = $1 AND tenant_id = $2 FOR UPDATE")
# By an instant that is the same for the whole statement, so that the index is read up to there, and not all of it.
_PICK_HINTED = _ENTER.format(which="id = $1 AND queue = $2 AND due_at <= statement_timestamp() FOR UPDATE SKIP LOCKED")
_PICK_NEXT = _ENTER.format(
    which="queue = $1 AND due_at <= statement_timestamp() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED"
)
_LOCK_ASKING = """
SELECT to_jsonb(w)::text, set_config('plan_cache_mode', 'force_generic_plan', true)
FROM approvals_approvalrequest q JOIN runs_work_item w ON w.id = q.run_id AND w.tenant_id = q.tenant_id
WHERE q.id = $1 AND q.tenant_id = $2 FOR UPDATE OF w
"""
_ASKING = "(SELECT run_id FROM approvals_approvalrequest WHERE id = $1)"

# Each part goes from what is one run's to what hangs on it, also where no statistics tell Postgres that it must.
_WHOLE = f"""
WITH asked AS MATERIALIZED (
    SELECT q.* FROM approvals_approvalrequest q
    WHERE q.run_id = {{run}} AND q.tenant_id = {{tenant}} AND q.status IN ('pending', 'approved')
), {MEMBERS}
SELECT jsonb_build_object({PARTS},
  'run', to_jsonb(r), 'agent', to_jsonb(v),
  'steps', (SELECT jsonb_agg(to_jsonb(s) || jsonb_build_object('charge_money', s.charge_money::text)
                             ORDER BY s.turn, s.index) FROM runs_step s
            WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id),
  'proposals', (SELECT jsonb_agg(to_jsonb(p)) FROM runs_proposal p
                JOIN runs_step s ON s.tenant_id = p.tenant_id AND s.id = p.step_id
                WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id
                  AND s.status IN ('held', 'cleared', 'stale', 'running', 'unknown')),
  'attempts', (SELECT jsonb_agg(to_jsonb(a)) FROM runs_attempt a
               JOIN runs_step s ON s.tenant_id = a.tenant_id AND s.id = a.step_id
               WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id AND a.outcome IS NULL),
  'requests', (SELECT jsonb_agg(to_jsonb(q)) FROM asked q),
  'decisions', (SELECT jsonb_agg(d.told) FROM asked q, LATERAL (
                  SELECT to_jsonb(d) || jsonb_build_object('roles', m.roles) told FROM approvals_decision d
                  LEFT JOIN active_member m ON m.tenant_id = d.tenant_id AND m.user_id = d.user_id
                  WHERE d.tenant_id = q.tenant_id AND d.request_id = q.id OFFSET 0) d)
)::text {OF_RUN}
"""  # noqa: S608 - constants
_STILL = f"WITH {MEMBERS} SELECT jsonb_build_object({PARTS}, 'head', r.head)::text {OF_RUN}"
_LOAD = _WHOLE.format(run="$1", tenant=_TENANT)
_LOAD_ASKING = _WHOLE.format(run=_ASKING, tenant=_TENANT)
_LOAD_STILL = _STILL.format(run="$1", tenant=_TENANT)


@dataclass(frozen=True)
class Locked:
    """A run that this transaction has locked, and what the same trip read about it."""

    work: WorkItem
    found: dict[str, Any] = field(repr=False)
    opened_at: float
    left: Book | None = field(default=None, repr=False)


def lock_run(tenant_id: UUID, run_id: UUID, left: Book | None = None) -> Locked:
    """The run's lock, and its tenant entered. Raises RunNotFound.

    `left`: as this worker left it for the call that it now comes back from; only what others may have changed is read.
    """
    opened_at = time.monotonic()
    kept = left if left is not None and _waits_for_one_call(left) else None
    lock = (_LOCK, (str(run_id), str(tenant_id)))
    work, found = ask(lock, (_LOAD if kept is None else _LOAD_STILL, (str(run_id),)))
    if work is None:
        raise RunNotFound
    return Locked(instance(WorkItem, work), found, opened_at, kept)


def lock_asking(tenant_id: UUID, request_id: UUID) -> Locked:
    """The lock of the run that asks, in a transaction that shows the tenant's rows. Raises ApprovalNotFound."""
    opened_at = time.monotonic()
    work, found = ask((_LOCK_ASKING, (str(request_id), str(tenant_id))), (_LOAD_ASKING, (str(request_id),)))
    if work is None:
        raise ApprovalNotFound
    return Locked(instance(WorkItem, work), found, opened_at)


def pick_due(queue: str, hint: UUID | None) -> Locked | None:
    """A run of this queue that is due and that nobody else holds, locked; the hinted one first."""
    opened_at = time.monotonic()
    if hint is not None:
        work, found = ask((_PICK_HINTED, (str(hint), queue)), (_LOAD, (str(hint),)))
        if work is not None:
            return Locked(instance(WorkItem, work), found, opened_at)
    (work,) = ask((_PICK_NEXT, (queue,)))
    if work is None:
        return None
    (found,) = ask((_LOAD, (work["id"],)))
    return Locked(instance(WorkItem, work), found, opened_at)


def load(locked: Locked) -> Book:
    """Everything about the locked run. The database's clock is the clock."""
    book = _still(locked, locked.left) if locked.left is not None else _whole(locked)
    if book.run.workflow_at_id is not None:
        book.workflow = lock_handle(book.work.tenant_id, book.run.workflow_at_id)
    if book.agent.planner == "model":
        calls = ModelRequest.objects.filter(tenant_id=book.work.tenant_id, run_id=book.work.id)
        book.model_request = calls.order_by("-number").first()
    return book


def _waits_for_one_call(left: Book) -> bool:
    """Then nobody else may have moved anything without an event."""
    return [step.status for step in left.open_steps()] == [StepStatus.RUNNING.value]


def _still(locked: Locked, left: Book) -> Book:
    """The book as it was left, under what is so now; all of it anew when somebody wrote to the run since."""
    work, found = locked.work, locked.found
    if found["head"] != left.run.head:
        (whole,) = ask((_LOAD, (str(work.id),)))
        return _whole(replace(locked, found=whole))
    return Book(
        run=left.run,
        work=work,
        agent=left.agent,
        steps=left.steps,
        proposals={step.id: left.proposals[step.id] for step in left.open_steps()},
        attempts=left.attempts,
        opened_at=locked.opened_at,
        **circumstances(work.tenant_id, found),
    )


def _whole(locked: Locked) -> Book:
    work, found = locked.work, locked.found
    book = Book(
        run=instance(Run, found["run"]),
        work=work,
        agent=instance(AgentVersion, found["agent"]),
        opened_at=locked.opened_at,
        **circumstances(work.tenant_id, found),
    )
    _fill(book, found)
    return book


def _fill(book: Book, found: Mapping[str, Any]) -> None:
    book.steps = [instance(Step, s) for s in found["steps"] or []]
    book.proposals = {p.step_id: p for p in (instance(Proposal, p) for p in found["proposals"] or [])}
    book.attempts = {a.step_id: a for a in (instance(Attempt, a) for a in found["attempts"] or [])}
    book.requests = {q.id: q for q in (instance(ApprovalRequest, q) for q in found["requests"] or [])}
    for row in found["decisions"] or []:
        roles = frozenset(row.pop("roles") or [])
        decision = instance(Decision, row)
        book.decisions.append(decision)
        book.roles[decision.user_id] = roles
