"""Says, with evidence, what an unknown call really did; a destructive one needs two people where the tenant says so."""

from dataclasses import dataclass
from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.errors import PeopleOnly
from runs import ledger
from runs.book import Book
from runs.domain.errors import NotUnknown, SaidAlready, StepNotFound, TooEarlyToReconcile
from runs.domain.step import StepStatus
from runs.models import Step
from runs.operations.advancing import due_now
from runs.operations.concluding import conclude_failed, conclude_succeeded, quiet_in
from runs.sayings import SAID, sayings
from tools.domain.canonical import Json


@dataclass(frozen=True)
class Reconciled:
    """`settled` is false while another person must say the same."""

    settled: bool


def reconcile(actor: Actor, step_id: UUID, *, succeeded: bool, evidence: str, result: Json = None) -> Reconciled:
    """Settle an unknown step, or be the first of the two people who must.

    Raises StepNotFound, NotUnknown, SaidAlready, PeopleOnly (where two people are needed), and TooEarlyToReconcile
    for `failed` while the call may still be on its way.
    """
    require_scope(actor, RUNS_WRITE)
    with tenant_transaction(actor.tenant_id):
        found = Step.objects.filter(tenant_id=actor.tenant_id, id=step_id).values_list("run_id").first()
    if found is None:
        raise StepNotFound
    with ledger.opened_run(actor.tenant_id, found[0]) as book:
        step = next(s for s in book.steps if s.id == step_id)
        if step.status != StepStatus.UNKNOWN.value:
            raise NotUnknown(status=step.status)
        if not succeeded and (wait := quiet_in(book, step)) > 0:
            raise TooEarlyToReconcile(retry_after=round(wait + 0.5))
        outcome = "succeeded" if succeeded else "failed"
        if _needs_another(book, step, actor, outcome):
            said: dict[str, Json] = {"step": str(step.id), "outcome": outcome, "evidence": evidence}
            book.note(SAID, actor.label, **said, person=str(actor.user_id))
            return Reconciled(settled=False)
        _conclude(book, step, actor, outcome, evidence, result)
    return Reconciled(settled=True)


def _needs_another(book: Book, step: Step, actor: Actor, outcome: str) -> bool:
    if step.risk != "destructive" or book.policy.reconcile_quorum < 2:
        return False
    if not actor.is_person:
        raise PeopleOnly
    agreeing = {s.person for s in sayings(step.tenant_id, step.run_id, step.id) if s.outcome == outcome}
    if str(actor.user_id) in agreeing:
        raise SaidAlready
    return not agreeing


def _conclude(book: Book, step: Step, actor: Actor, outcome: str, evidence: str, result: Json) -> None:
    if outcome == "succeeded":
        conclude_succeeded(book, step, actor.label, evidence, result)
    else:
        conclude_failed(book, step, actor.label, evidence)
    if not book.is_final:
        due_now(book)
