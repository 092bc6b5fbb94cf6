"""One person's decision about one request: the service behind the page and REST."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import APPROVALS_DECIDE
from approvals import gate
from approvals.domain.decision import Person, RequestStatus, Then, Verdict
from approvals.domain.errors import InvalidDecision, PreconditionChanged
from approvals.models import ApprovalRequest, Decision
from runs import ledger
from runs.book import Book
from runs.domain.planning import ENDS_RUN, Refusal
from runs.domain.run import TerminalReason
from runs.domain.step import StepEvent
from runs.operations.advancing import due_now, external_due
from runs.operations.asking_again import ask_again
from runs.operations.ending import end_when_quiet, observe_refusal, release
from tools.domain.canonical import Json, canonical

AHEAD = timedelta(seconds=1)
"""Somebody looks on as it starts: what was approved goes before the starts and returns of the last second."""


@dataclass(frozen=True)
class Decided:
    """What became of the request. `status`: of the request after this decision."""

    decision_id: UUID
    request_id: UUID
    status: str
    given: int
    needed: int


def person_of(actor: Actor) -> Person:
    """The actor as the gate sees it."""
    return Person(actor.user_id, actor.roles, actor.allows(APPROVALS_DECIDE), actor.label, actor.door)


def read_verdict(text: object) -> Verdict:
    """Only the literal word is a verdict. Raises InvalidDecision."""
    if isinstance(text, str) and text in set(Verdict):
        return Verdict(text)
    raise InvalidDecision("The verdict must be one of: approve, reject, edit, answer.", pointer="/verdict")


def decide(
    actor: Actor,
    request_id: UUID,
    *,
    verdict: Verdict,
    digest: str,
    reason: str = "",
    then: Then = Then.REPLAN,
    proof: Json = None,
) -> Decided:
    """Approve or reject. Raises what stands against it, in the order of semantics.md, Deciding.

    PreconditionChanged carries the id of the request that replaced this one.
    """
    with ledger.opened_request(actor.tenant_id, request_id) as book:
        request = request_in(book, request_id)
        person = person_of(actor)
        decided = [d for d in book.decisions if d.request_id == request.id] or _decisions(request)
        gate.check_decision(request, person, verdict, digest, book.now, decided)
        successor = ask_again(book, request) if verdict is Verdict.APPROVE else None
        if successor is None:
            done = _decide(book, request, person, verdict, reason, then, canonical(proof or {}))
        else:
            external_due(book)
    if successor is not None:
        raise PreconditionChanged(new_request=str(successor.id))
    return done


def request_in(book: Book, request_id: UUID) -> ApprovalRequest:
    """The request under the run's lock, in whatever status."""
    known = book.requests.get(request_id)
    return known or ApprovalRequest.objects.get(tenant_id=book.run.tenant_id, id=request_id)


def _decisions(request: ApprovalRequest) -> Sequence[Decision]:
    if request.status == RequestStatus.PENDING.value:
        return ()
    return list(Decision.objects.filter(tenant_id=request.tenant_id, request_id=request.id).order_by("at"))


def _decide(
    book: Book, request: ApprovalRequest, person: Person, verdict: Verdict, reason: str, then: Then, proof: str
) -> Decided:
    votes = gate.counted(request, book.votes_for(request))
    rejects = verdict is Verdict.REJECT
    decision, settles = gate.record_decision(
        request,
        person,
        verdict,
        reason=reason,
        then=then if rejects else None,
        proof=proof,
        now=book.now,
        votes=votes,
    )
    book.add(decision)
    book.note(
        "decided", person.label, request=str(request.id), verdict=verdict.value, digest=request.digest,
        door=person.door, reason=reason, person=str(person.user_id),
    )  # fmt: skip
    book.changed_requests.add(request.id)
    request.version += 1
    if settles:
        book.close_request(request, RequestStatus.REJECTED if rejects else RequestStatus.APPROVED)
        _reject(book, request, person, reason, then) if rejects else _approve(book, request, person)
    given = len(votes) + (not rejects)
    return Decided(decision.id, request.id, request.status, given, request.quorum)


def _approve(book: Book, request: ApprovalRequest, person: Person) -> None:
    book.record(book.step_of(request), StepEvent.APPROVED, person.label, request=str(request.id))
    due_now(book, ahead=AHEAD)


def _reject(book: Book, request: ApprovalRequest, person: Person, reason: str, then: Then) -> None:
    step = book.step_of(request)
    extra = {"reason": reason, "decided_by": person.label}
    if then is Then.STOP:
        extra[ENDS_RUN] = TerminalReason.APPROVAL_REJECTED.value
    message = f"{person.label} rejected this call" + (f": {reason}" if reason else ".")
    hint = "Do not propose this call again in this run."
    step.refusal = Refusal("approval_rejected", message, hint=hint, extra=extra).stored()
    book.record(step, StepEvent.REJECTED, person.label, request=str(request.id), reason=reason)
    release(book, step)
    observe_refusal(book, step)
    if then is Then.STOP:
        end_when_quiet(book, TerminalReason.APPROVAL_REJECTED, message, actor=person.label)
    elif book.open_steps():
        external_due(book)
    else:
        due_now(book)
