"""Takes back one call that waits for people, as the outside agent that made it asks."""

from uuid import UUID

from agentops.tenancy.actor import Actor
from approvals.domain.decision import RequestStatus
from runs import ledger
from runs.domain.errors import NotHeld, NotThePrincipal, StepNotFound
from runs.domain.step import StepEvent, StepStatus
from runs.operations.advancing import external_due
from runs.operations.ending import close_request, release


def withdraw(actor: Actor, run_id: UUID, step_id: UUID) -> None:
    """Withdraw the held step. Raises RunNotFound, StepNotFound, NotThePrincipal, NotHeld."""
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        if book.run.principal != actor.principal:
            raise NotThePrincipal
        step = next((s for s in book.steps if s.id == step_id), None)
        if step is None:
            raise StepNotFound
        if step.status != StepStatus.HELD.value:
            raise NotHeld(status=step.status)
        close_request(book, step, RequestStatus.WITHDRAWN)
        book.record(step, StepEvent.WITHDRAWN, actor.label)
        release(book, step)
        external_due(book)
