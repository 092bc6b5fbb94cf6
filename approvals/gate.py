"""The gate: what the engine asks before a call may run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from approvals.domain.binding import Binding
from approvals.domain.decision import Person, RequestStatus, Then, Verdict, refusal, standing
from approvals.domain.errors import AlreadyDecided, DigestMismatch, Expired, VerdictUnsupported
from approvals.domain.policy import Facts, Judgement, Policy, judge
from approvals.models import ApprovalRequest, Decision

__all__ = ["Asking", "Facts", "Judgement", "Policy", "check_decision", "open_request", "record_decision", "review"]


@dataclass(frozen=True)
class Asking:
    """What is known about the call when people are asked. `snapshot`, `checks`: canonical text."""

    binding: Binding
    agent: str
    acting_for: str
    summary: str
    summary_values: Sequence[int]
    reasons: Sequence[str]
    tainted: bool
    snapshot: str
    checks: str
    checked_at: datetime | None
    requesters: Collection[UUID]
    group: str | None
    expires_in: int
    supersedes: UUID | None


def review(policy: Policy, facts: Facts) -> Judgement:
    """What the tenant's policy says of a call, now."""
    return judge(policy, facts)


def open_request(asking: Asking, now: datetime) -> ApprovalRequest:
    """A pending request, not yet written: the caller's transaction writes it with the step it holds."""
    binding = asking.binding
    return ApprovalRequest(
        id=binding.request,
        tenant_id=binding.tenant,
        run_id=binding.run,
        step_id=binding.step,
        tool=binding.tool,
        risk=binding.risk,
        agent=asking.agent,
        acting_for=asking.acting_for,
        summary=asking.summary,
        summary_values=list(asking.summary_values),
        reasons=list(asking.reasons),
        tainted=asking.tainted,
        snapshot=asking.snapshot,
        digest=binding.digest(),
        requesters=sorted(asking.requesters),
        quorum=max(1, binding.quorum),
        group=asking.group,
        policy_version=binding.policy_version,
        checks=asking.checks,
        checked_at=asking.checked_at,
        status=RequestStatus.PENDING.value,
        opened_at=now,
        expires_at=now + timedelta(seconds=asking.expires_in),
        supersedes=asking.supersedes,
    )


def check_decision(
    request: ApprovalRequest, person: Person, verdict: Verdict, digest: str, now: datetime, decided: Sequence[Decision]
) -> None:
    """Raise what stands against this decision, in the order of semantics.md, Deciding."""
    against = refusal(person, request.requesters, request.group)
    if against is not None:
        raise against
    mine = next((d for d in decided if d.user_id == person.user_id), None)
    if request.status not in {RequestStatus.PENDING.value, RequestStatus.EXPIRED.value} or mine is not None:
        raise _already(request, decided, mine)
    if request.status == RequestStatus.EXPIRED.value or request.expires_at <= now:
        raise Expired(expired_at=request.expires_at)
    if verdict not in {Verdict.APPROVE, Verdict.REJECT}:
        raise VerdictUnsupported(verdict=verdict.value)
    if digest != request.digest:
        raise DigestMismatch


def record_decision(
    request: ApprovalRequest,
    person: Person,
    verdict: Verdict,
    *,
    reason: str,
    then: Then | None,
    proof: str,
    now: datetime,
    votes: Mapping[UUID, frozenset[str]],
) -> tuple[Decision, bool]:
    """One person's decision, not yet written, and whether it settles the request. `votes`: earlier approvals."""
    assert person.user_id is not None  # noqa: S101 - check_decision refused everybody else
    decision = Decision(
        tenant_id=request.tenant_id,
        request_id=request.id,
        user_id=person.user_id,
        label=person.label,
        verdict=verdict.value,
        then=then.value if then else None,
        reason=reason,
        digest=request.digest,
        door=person.door,
        proof=proof,
        at=now,
    )
    given = {**votes, person.user_id: person.roles}
    settles = verdict is Verdict.REJECT or is_carried(request, given)
    return decision, settles


def is_carried(request: ApprovalRequest, votes: Mapping[UUID, frozenset[str]]) -> bool:
    """Whether the approvals of people who are eligible now reach the quorum."""
    return standing(list(votes.items()), request.requesters, request.group) >= max(1, request.quorum)


def counted(request: ApprovalRequest, votes: Mapping[UUID, frozenset[str]]) -> dict[UUID, frozenset[str]]:
    """Those of the votes whose voters may still decide this request."""
    return {
        user: roles for user, roles in votes.items() if standing([(user, roles)], request.requesters, request.group)
    }


def _already(request: ApprovalRequest, decided: Sequence[Decision], mine: Decision | None) -> AlreadyDecided:
    last = mine or max(decided, key=lambda d: d.at, default=None)
    details: dict[str, object] = {"status": request.status}
    if request.superseded_by:
        details["superseded_by"] = str(request.superseded_by)
    if last is None:
        return AlreadyDecided(f"The request is {request.status}; nobody can decide it any more.", **details)
    details |= {"decided_by": last.label, "verdict": last.verdict, "decided_at": last.at}
    return AlreadyDecided(f"{last.label} decided this already: {last.verdict}.", **details)
