"""Says, with evidence, what an unknown call really did."""

from datetime import datetime
from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from runs import ledger
from runs.book import Book
from runs.domain.errors import NotUnknown, StepNotFound, TooEarlyToReconcile
from runs.domain.step import StepEvent, StepStatus
from runs.models import Attempt, Step
from runs.operations.advancing import due_now
from runs.operations.ending import observe_refusal, release
from runs.operations.settling import observe
from tools.domain.canonical import Json, canonical


def reconcile(actor: Actor, step_id: UUID, *, succeeded: bool, evidence: str, result: Json = None) -> None:
    """Settle an unknown step. Raises StepNotFound, NotUnknown, and TooEarlyToReconcile for `failed` while the
    call may still be on its way."""
    require_scope(actor, RUNS_WRITE)
    with tenant_transaction(actor.tenant_id):
        found = Step.objects.filter(tenant_id=actor.tenant_id, id=step_id).values_list("run_id").first()
    if found is None:
        raise StepNotFound
    with ledger.opened_run(actor.tenant_id, found[0]) as book:
        step = next(s for s in book.steps if s.id == step_id)
        if step.status != StepStatus.UNKNOWN.value:
            raise NotUnknown(status=step.status)
        tool = book.tools.get(step.tool)
        if not succeeded:
            _require_quiet(book.now, step, (tool.pinned.spec.timeout_ms if tool else 0) / 1000)
        if succeeded:
            _succeed(book, step, actor.label, evidence, result)
        else:
            _fail(book, step, actor.label, evidence)
        if not book.is_final:
            due_now(book)


def _succeed(book: Book, step: Step, who: str, evidence: str, result: Json) -> None:
    step.refusal = None
    if (tool := book.tools.get(step.tool)) is not None:
        observe(book, step, tool.pinned.spec, result)
    book.record(step, StepEvent.RECONCILED_SUCCEEDED, who, evidence=evidence)
    book.charge(
        use={"money": step.charge_money, "records": step.charge_records},
        reserve={"money": -step.charge_money, "records": -step.charge_records},
    )


def _fail(book: Book, step: Step, who: str, evidence: str) -> None:
    message = f"Reconciled as failed: {evidence}"
    step.refusal = canonical({"code": "tool_failed", "message": message, "retryable": True, "hint": ""})
    book.record(step, StepEvent.RECONCILED_FAILED, who, evidence=evidence)
    observe_refusal(book, step)
    release(book, step, started=True)


def _require_quiet(now: datetime, step: Step, timeout: float) -> None:
    last = Attempt.objects.filter(tenant_id=step.tenant_id, step_id=step.id).order_by("-number").first()
    if last is not None and (now - last.started_at).total_seconds() < timeout + 10:
        raise TooEarlyToReconcile(retry_after=round(timeout + 10))
