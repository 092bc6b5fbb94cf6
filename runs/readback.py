"""What an outside agent may read back: the calls that its own principal made, and what became of them."""

from uuid import UUID

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest
from runs.domain.errors import StepNotFound
from runs.models import Step
from runs.queries import StepView, step_views


def own_call(actor: Actor, step_id: UUID, *, run_id: UUID | None = None) -> StepView:
    """One call of the actor's principal, in `run_id` where that is all that may be seen. Raises StepNotFound."""
    with tenant_transaction(actor.tenant_id):
        return _own(actor, step_id, run_id)


def own_call_of_request(actor: Actor, request_id: UUID, *, run_id: UUID | None = None) -> StepView:
    """The call that this request was about, also when another request took its place. Raises StepNotFound."""
    with tenant_transaction(actor.tenant_id):
        found = ApprovalRequest.objects.filter(tenant_id=actor.tenant_id, id=request_id).values_list("step_id").first()
        if found is None:
            raise StepNotFound
        return _own(actor, found[0], run_id)


def _own(actor: Actor, step_id: UUID, run_id: UUID | None) -> StepView:
    mine = Step.objects.filter(tenant_id=actor.tenant_id, id=step_id, run__principal=actor.principal)
    found = step_views(mine.filter(run_id=run_id) if run_id else mine)
    if not found:
        raise StepNotFound
    return found[0]
