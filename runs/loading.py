"""Opens a run under its lock: two statements, the second short after a call; one more for a workflow or a model."""

import base64
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson

from approvals.domain.errors import ApprovalNotFound
from approvals.models import ApprovalRequest, Decision
from runs.book import Book
from runs.circumstances import MEMBERS, OF_RUN, PARTS, circumstances
from runs.domain.errors import RunNotFound
from runs.domain.step import StepStatus
from runs.models import AgentVersion, Attempt, ModelRequest, Proposal, Run, Step, WorkItem
from runs.rows import instance, preparing
from tools.workflow_handles import lock_handle

_ENTER = """
WITH picked AS MATERIALIZED (
    SELECT id, tenant_id, queue, due_at, cancel_requested FROM runs_work_item WHERE {which}
)
SELECT id, tenant_id, queue, due_at, cancel_requested, set_config('app.tenant', tenant_id::text, true),
  set_config('plan_cache_mode', 'force_generic_plan', true) FROM picked
"""
"""Left to choose, Postgres may plan what follows for each run anew: all of it goes by keys, and planning costs most."""
_LOCK = _ENTER.format(which="id = %s AND tenant_id = %s FOR UPDATE")
_PICK_HINTED = _ENTER.format(which="id = %s AND queue = %s AND due_at <= clock_timestamp() FOR UPDATE SKIP LOCKED")
_PICK_NEXT = _ENTER.format(
    which="queue = %s AND due_at <= clock_timestamp() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED"
)
_LOCK_ASKING = """
SELECT w.id, w.tenant_id, w.queue, w.due_at, w.cancel_requested,
  set_config('plan_cache_mode', 'force_generic_plan', true)
FROM approvals_approvalrequest q JOIN runs_work_item w ON w.id = q.run_id AND w.tenant_id = q.tenant_id
WHERE q.id = %s AND q.tenant_id = %s FOR UPDATE OF w
"""

# Each part goes from what is one run's to what hangs on it, also where no statistics tell Postgres that it must.
_LOAD = f"""
WITH asked AS MATERIALIZED (
    SELECT q.* FROM approvals_approvalrequest q
    WHERE q.run_id = %s AND q.tenant_id = %s AND q.status IN ('pending', 'approved')
), {MEMBERS}
SELECT jsonb_build_object({PARTS},
  'run', to_jsonb(r), 'agent', to_jsonb(v),
  'steps', (SELECT jsonb_agg(to_jsonb(s) || jsonb_build_object('charge_money', s.charge_money::text)
                             ORDER BY s.turn, s.index) FROM runs_step s
            WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id),
  'proposals', (SELECT jsonb_agg(to_jsonb(p) - 'sealed' || jsonb_build_object('sealed', encode(p.sealed, 'base64')))
                FROM runs_proposal p JOIN runs_step s ON s.tenant_id = p.tenant_id AND s.id = p.step_id
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


def lock_run(tenant_id: UUID, run_id: UUID) -> WorkItem:
    """The run's lock, and its tenant entered, in one statement. Raises RunNotFound."""
    work = _locked(_LOCK, [run_id, tenant_id])
    if work is None:
        raise RunNotFound
    return work


def lock_asking(tenant_id: UUID, request_id: UUID) -> WorkItem:
    """The lock of the run that asks, in a transaction that shows the tenant's rows. Raises ApprovalNotFound."""
    work = _locked(_LOCK_ASKING, [request_id, tenant_id])
    if work is None:
        raise ApprovalNotFound
    return work


def pick_due(queue: str, hint: UUID | None) -> WorkItem | None:
    """A run of this queue that is due and that nobody else holds, locked; the hinted one first."""
    if hint is not None and (hinted := _locked(_PICK_HINTED, [hint, queue])) is not None:
        return hinted
    return _locked(_PICK_NEXT, [queue])


def load(work: WorkItem, left: Book | None = None) -> Book:
    """Everything about the locked run. The database's clock is the clock.

    `left`: as this worker left it for the call that it now comes back from; only what others may have changed is read.
    """
    opened_at = time.monotonic()
    kept = _still(work, left, opened_at) if left is not None and _waits_for_one_call(left) else None
    book = kept or _whole(work, opened_at)
    if book.run.workflow_at_id is not None:
        book.workflow = lock_handle(work.tenant_id, book.run.workflow_at_id)
    if book.agent.planner == "model":
        calls = ModelRequest.objects.filter(tenant_id=work.tenant_id, run_id=work.id)
        book.model_request = calls.order_by("-number").first()
    return book


def _waits_for_one_call(left: Book) -> bool:
    """Then nobody else may have moved anything without an event."""
    return [step.status for step in left.open_steps()] == [StepStatus.RUNNING.value]


def _still(work: WorkItem, left: Book, opened_at: float) -> Book | None:
    """The book as it was left, under what is so now; None when somebody wrote to the run since."""
    found = _read(_STILL, [work.id, work.tenant_id])
    if found["head"] != left.run.head:
        return None
    return Book(
        run=left.run,
        work=work,
        agent=left.agent,
        steps=left.steps,
        proposals={step.id: left.proposals[step.id] for step in left.open_steps()},
        attempts=left.attempts,
        opened_at=opened_at,
        **circumstances(work.tenant_id, found),
    )


def _whole(work: WorkItem, opened_at: float) -> Book:
    found = _read(_LOAD, [work.id, work.tenant_id] * 2)
    book = Book(
        run=instance(Run, found["run"]),
        work=work,
        agent=instance(AgentVersion, found["agent"]),
        opened_at=opened_at,
        **circumstances(work.tenant_id, found),
    )
    _fill(book, found)
    return book


def _read(sql: str, params: list[Any]) -> dict[str, Any]:
    with preparing() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    if row is None:
        raise RunNotFound
    found: dict[str, Any] = orjson.loads(row[0])
    return found


def _fill(book: Book, found: Mapping[str, Any]) -> None:
    book.steps = [instance(Step, s) for s in found["steps"] or []]
    book.proposals = {p.step_id: p for p in (instance(Proposal, _unsealed(p)) for p in found["proposals"] or [])}
    book.attempts = {a.step_id: a for a in (instance(Attempt, a) for a in found["attempts"] or [])}
    book.requests = {q.id: q for q in (instance(ApprovalRequest, q) for q in found["requests"] or [])}
    for row in found["decisions"] or []:
        roles = frozenset(row.pop("roles") or [])
        decision = instance(Decision, row)
        book.decisions.append(decision)
        book.roles[decision.user_id] = roles


def _locked(sql: str, params: list[Any]) -> WorkItem | None:
    with preparing() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    if row is None:
        return None
    return WorkItem(id=row[0], tenant_id=row[1], queue=row[2], due_at=row[3], cancel_requested=row[4])


def _unsealed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"sealed": base64.b64decode(row["sealed"]) if row["sealed"] else None}
