"""One person's decision about one request: the service behind the page and REST."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentops.chain import stamp
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import APPROVALS_DECIDE
from agentops.tenancy.transaction import tenant_transaction
from approvals import gate
from approvals.domain.decision import Person, RequestStatus, Then, Verdict, refusal
from approvals.domain.errors import (
    ApprovalNotFound,
    InvalidDecision,
    PreconditionChanged,
    RecheckTooSoon,
)
from approvals.models import ApprovalRequest, Decision
from runs import ledger, probing
from runs.book import Book
from runs.domain.planning import ENDS_RUN, Refusal
from runs.domain.run import TerminalReason
from runs.domain.step import StepEvent
from runs.models import Step
from runs.operations import judging
from runs.operations.advancing import due_now, external_due
from runs.operations.claiming import args_of
from runs.operations.ending import end_when_quiet, observe_refusal, release
from runs.operations.holding import Check, captured, hold
from runs.operations.proposing import wanted_probes
from runs.operations.readings import ProbeWanted, Reading
from tools.domain.canonical import Json, canonical, parse
from tools.domain.preconditions import evaluate
from tools.domain.spec import Precondition

RECHECK_SECONDS = 2


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
    run_id = _run_of(actor, request_id)
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        request = _locked(actor, book, request_id)
        person = person_of(actor)
        decided = [d for d in book.decisions if d.request_id == request.id] or _decisions(request)
        gate.check_decision(request, person, verdict, digest, book.now, decided)
        successor = _ask_again(book, request) if verdict is Verdict.APPROVE else None
        if successor is None:
            done = _decide(book, request, person, verdict, reason, then, canonical(proof or {}))
    if successor is not None:
        raise PreconditionChanged(new_request=str(successor.id))
    return done


def recheck(actor: Actor, request_id: UUID) -> None:
    """Read the conditions again and keep what was read. Raises as `decide` does, and RecheckTooSoon."""
    run_id = _run_of(actor, request_id)
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        request = _locked(actor, book, request_id)
        against = refusal(person_of(actor), request.requesters, request.group)
        if against is not None:
            raise against
        gate.check_decision(request, person_of(actor), Verdict.APPROVE, request.digest, book.now, ())
        if request.checked_at and (book.now - request.checked_at).total_seconds() < RECHECK_SECONDS:
            raise RecheckTooSoon(retry_after=RECHECK_SECONDS)
        wanted = _wanted(book, _step(book, request))
    readings = probing.read(wanted)
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        request = _locked(actor, book, request_id)
        if request.status == RequestStatus.PENDING.value:
            _keep(book, request, readings, actor.label)


def _run_of(actor: Actor, request_id: UUID) -> UUID:
    with tenant_transaction(actor.tenant_id):
        run_id = ApprovalRequest.objects.filter(tenant_id=actor.tenant_id, id=request_id).values_list("run_id").first()
    if run_id is None:
        raise ApprovalNotFound
    return UUID(str(run_id[0]))


def _locked(actor: Actor, book: Book, request_id: UUID) -> ApprovalRequest:
    """The request under the run's lock, in whatever status."""
    known = book.requests.get(request_id)
    return known or ApprovalRequest.objects.get(tenant_id=actor.tenant_id, id=request_id)


def _decisions(request: ApprovalRequest) -> Sequence[Decision]:
    if request.status == RequestStatus.PENDING.value:
        return ()
    return list(Decision.objects.filter(tenant_id=request.tenant_id, request_id=request.id).order_by("at"))


def _step(book: Book, request: ApprovalRequest) -> Step:
    return next(s for s in book.steps if s.id == request.step_id)


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
    book.asked.add(request.id)
    request.version += 1
    if settles:
        book.close_request(request, RequestStatus.REJECTED if rejects else RequestStatus.APPROVED)
        _reject(book, request, person, reason, then) if rejects else _approve(book, request, person)
    given = len(votes) + (not rejects)
    return Decided(decision.id, request.id, request.status, given, request.quorum)


def _approve(book: Book, request: ApprovalRequest, person: Person) -> None:
    book.record(_step(book, request), StepEvent.APPROVED, person.label, request=str(request.id))
    due_now(book)


def _reject(book: Book, request: ApprovalRequest, person: Person, reason: str, then: Then) -> None:
    step = _step(book, request)
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


def _ask_again(book: Book, request: ApprovalRequest) -> ApprovalRequest | None:
    """When the last check failed nothing is consumed: the step is asked again with what is so now."""
    checks = parse(request.checks)
    failing = [c for c in checks if isinstance(c, dict) and c.get("ok") is False] if isinstance(checks, list) else []
    step = _step(book, request)
    tool = book.tools.get(step.tool)
    if not failing or tool is None:
        return None
    read_at = request.checked_at or book.now
    place = f"{step.turn}.{step.index}"
    taken = [Reading(place, str(c["name"]), _text(c["now"]), read_at) for c in checks if isinstance(c, dict)]  # type: ignore[union-attr]  # a list, else nothing fails
    book.record(step, StepEvent.STALED, caught_by="precondition_changed", request=str(request.id))
    successor = hold(book, step, tool, judging.judge(book, tool, _shown(book, step)), taken, _because(failing))
    external_due(book)
    return successor


def _because(failing: Sequence[dict[str, Json]]) -> str:
    return "; ".join(f"“{check['name']}”: {check['reason']}" for check in failing)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _shown(book: Book, step: Step) -> Json:
    return parse(book.proposals[step.id].args or "{}")


def _wanted(book: Book, step: Step) -> list[ProbeWanted]:
    tool = book.tools.get(step.tool)
    return [] if tool is None else wanted_probes(book, f"{step.turn}.{step.index}", tool, args_of(book, step))


def _keep(book: Book, request: ApprovalRequest, readings: Sequence[Reading], actor: str) -> None:
    step = _step(book, request)
    tool = book.tools.get(step.tool)
    before = dict(captured(request))
    checks: list[Json] = []
    for condition, reading in zip(tool.pinned.spec.preconditions if tool else (), readings, strict=False):
        checks.append(_check(condition, before.get(condition.name), reading, args_of(book, step)).as_json())
    request.checks = canonical(checks)
    request.checked_at = book.now
    book.asked.add(request.id)
    book.note("probed", actor, step=str(step.id), request=str(request.id), conditions=checks)


def _check(condition: Precondition, before: str | None, reading: Reading, args: Json) -> Check:
    if reading.value is None:
        return Check(reading.name, before, None, None, reading.fault, stamp(reading.read_at))
    if before is None:
        return Check(reading.name, None, reading.value, None, "It was not known when proposed.", stamp(reading.read_at))
    verdict = evaluate(condition, parse(before), parse(reading.value), args)
    return Check(reading.name, before, reading.value, verdict.ok, verdict.reason, stamp(reading.read_at))
