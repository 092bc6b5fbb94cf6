"""Who may decide a request, what a decision is, and when the votes suffice."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from approvals.domain.errors import GateError, NotAnApprover, PeopleOnly, SelfApproval

GROUPS = ("approver", "owner")
"""The roles that a rule may name, the stricter one last: owners are fewer, and may decide everything."""

DECIDING_ROLES = frozenset(GROUPS)


class RequestStatus(StrEnum):
    """Where an approval request stands; the spelling is the public contract."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ANSWERED = "answered"
    SUPERSEDED = "superseded"


class Verdict(StrEnum):
    """What a person may say; only the literal word approves."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    ANSWER = "answer"


class Then(StrEnum):
    """What a rejection does to the run."""

    REPLAN = "replan"
    STOP = "stop"


@dataclass(frozen=True)
class Person:
    """A member who wants to decide. `user_id` is None for anything that is not a person."""

    user_id: UUID | None
    roles: frozenset[str]
    may_decide: bool
    label: str
    door: str


def refusal(person: Person, requesters: Collection[UUID], group: str | None) -> GateError | None:
    """Why this person cannot decide, or None when they can."""
    if person.user_id is None:
        return PeopleOnly()
    if not person.may_decide or not _eligible(person.roles, group):
        return NotAnApprover()
    if person.user_id in requesters:
        return SelfApproval()
    return None


def eligible_roles(group: str | None) -> frozenset[str]:
    """The roles whose members may decide; a group names one role, an unknown group nobody."""
    return DECIDING_ROLES if group is None else DECIDING_ROLES & {group}


def standing(votes: Collection[tuple[UUID, frozenset[str]]], requesters: Collection[UUID], group: str | None) -> int:
    """How many of the votes count now: distinct people, still eligible, not among the requesters."""
    return len({user for user, roles in votes if _eligible(roles, group) and user not in requesters})


def shortage(
    people: Collection[tuple[UUID, frozenset[str]]], requesters: Collection[UUID], group: str | None, quorum: int
) -> str:
    """Why the request cannot be carried by the people there are, empty when it can: it stays closed until then."""
    able = standing(people, requesters, group)
    if able >= quorum:
        return ""
    who = f"the group “{group}”" if group else "those who may decide"
    found = {0: "nobody", 1: "only one person"}.get(able, f"only {able} people")
    return f"It cannot be approved now: it needs {quorum} of {who} who did not ask for it, and there is {found}."


def _eligible(roles: frozenset[str], group: str | None) -> bool:
    return bool(roles & eligible_roles(group))
