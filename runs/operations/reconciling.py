"""Says, with evidence, what an unknown call really did."""

from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from runs import ledger
from runs.domain.errors import NotUnknown, StepNotFound, TooEarlyToReconcile
from runs.domain.step import StepStatus
from runs.models import Step
from runs.operations.advancing import due_now
from runs.operations.concluding import conclude_failed, conclude_succeeded, quiet_in
from tools.domain.canonical import Json


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
        if succeeded:
            conclude_succeeded(book, step, actor.label, evidence, result)
        elif (wait := quiet_in(book, step)) > 0:
            raise TooEarlyToReconcile(retry_after=round(wait + 0.5))
        else:
            conclude_failed(book, step, actor.label, evidence)
        if not book.is_final:
            due_now(book)
