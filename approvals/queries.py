"""What doors read of approval requests: values, evaluated, inside one tenant transaction each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.models import Membership
from agentops.tenancy.scopes import APPROVALS_DECIDE, APPROVALS_READ
from agentops.tenancy.transaction import tenant_transaction
from approvals.counting import COUNT_UP_TO, capped_counts
from approvals.domain.decision import Person, RequestStatus, Verdict, eligible_roles, refusal, shortage, standing
from approvals.domain.errors import ApprovalNotFound
from approvals.models import ApprovalRequest, Decision
from tools.domain.canonical import Json, canonical, parse


@dataclass(frozen=True)
class RequestRow:
    """A request in a list. `cannot`: why the reader cannot decide it; `shortage`: why nobody can carry it."""

    request: ApprovalRequest
    given: int
    cannot: str
    shortage: str


@dataclass(frozen=True)
class RequestPage:
    """One page of requests. `count` is None above `COUNT_UP_TO`; `after` is the last row's key."""

    rows: Sequence[RequestRow]
    count: int | None
    after: tuple[Any, ...] | None


@dataclass(frozen=True)
class RequestView:
    """One request with everything that was shown when it was asked (`snapshot`) and what was read since (`checks`).

    `able`: how many members could approve it now; fewer than its quorum, and nobody can until roles change.
    """

    request: ApprovalRequest
    snapshot: dict[str, Any]
    args_text: str
    checks: Sequence[dict[str, Json]]
    decisions: Sequence[Decision]
    given: int
    cannot: str
    shortage: str
    eligible: Sequence[str]
    able: int


def requests(
    actor: Actor,
    *,
    tab: str = "pending",
    status: str | None = None,
    risk: str = "",
    search: str = "",
    after: tuple[Any, ...] | None = None,
    size: int = 25,
    whole: bool = False,
    known_count: int | None = None,
) -> RequestPage:
    """A page of requests; with `whole`, what was shown of each too. `known_count`: the total, when it was counted.

    `tab`: `mine` (pending and mine to decide), `pending` (oldest first) or `decided` (newest first).
    """
    require_scope(actor, APPROVALS_READ)
    with tenant_transaction(actor.tenant_id):
        rows = _tab(actor, tab, status)
        if risk:
            rows = rows.filter(risk=risk)
        if search:
            rows = rows.filter(
                Q(summary__icontains=search) | Q(tool__icontains=search) | Q(agent__icontains=search)
                | Q(acting_for__icontains=search)
            )  # fmt: skip
        found_count = capped_counts(rows)[0] if known_count is None else known_count
        paged = _after(rows, tab, after)
        found = list((paged if whole else paged.defer("snapshot", "checks"))[: size + 1])
        shown = _rows(actor, found[:size])
        last = found[size - 1] if len(found) > size else None
        key = None if last is None else (last.decided_at if tab == "decided" else last.opened_at, last.id)
        return RequestPage(shown, found_count if found_count <= COUNT_UP_TO else None, key)


def tab_rows(actor: Actor, *tabs: str) -> list[QuerySet[ApprovalRequest]]:
    """The rows of these tabs, unread; for a reader that is inside a tenant transaction."""
    require_scope(actor, APPROVALS_READ)
    return [_tab(actor, tab, None) for tab in tabs]


def waiting_for(actor: Actor) -> int:
    """How many requests wait for this person, up to `COUNT_UP_TO` + 1."""
    with tenant_transaction(actor.tenant_id):
        return capped_counts(_tab(actor, "mine", None))[0]


def request(actor: Actor, request_id: UUID) -> RequestView:
    """One request, whole. Raises ApprovalNotFound."""
    require_scope(actor, APPROVALS_READ)
    with tenant_transaction(actor.tenant_id):
        decisions = Prefetch("decisions", Decision.objects.order_by("at"))
        rows = ApprovalRequest.objects.filter(tenant_id=actor.tenant_id, id=request_id)
        row = rows.prefetch_related(decisions).first()
        people = _people(actor.tenant_id)
    if row is None:
        raise ApprovalNotFound
    snapshot: Any = parse(row.snapshot)
    checks: Any = parse(row.checks)
    votes = list(row.decisions.all())
    return RequestView(
        request=row,
        snapshot=snapshot,
        args_text=canonical(snapshot["args"]),
        checks=[c for c in checks if isinstance(c, dict)],
        decisions=votes,
        given=_given(row, [d.user_id for d in votes if d.verdict == Verdict.APPROVE.value], people),
        cannot=why_not(actor, row, [d.user_id for d in votes]),
        shortage=_shortage(row, people),
        eligible=sorted(eligible_roles(row.group)),
        able=standing(list(people.items()), row.requesters, row.group),
    )


def why_not(actor: Actor, row: ApprovalRequest, voted: Collection[UUID]) -> str:
    """Why this actor cannot decide this request; empty when they can. `voted`: who has decided it."""
    person = Person(actor.user_id, actor.roles, actor.allows(APPROVALS_DECIDE), actor.label, actor.door)
    against = refusal(person, row.requesters, row.group)
    if against is not None:
        return against.message
    if row.status != RequestStatus.PENDING.value:
        return f"It is {row.status}."
    return "You have approved it already; somebody else must too." if actor.user_id in voted else ""


def _tab(actor: Actor, tab: str, status: str | None) -> QuerySet[ApprovalRequest]:
    rows = ApprovalRequest.objects.filter(tenant_id=actor.tenant_id)
    if status:
        return rows.filter(status=status)
    pending = RequestStatus.PENDING.value
    if tab == "decided":
        return rows.exclude(status=pending)
    rows = rows.filter(status=pending)
    if tab != "mine":
        return rows
    if actor.user_id is None or not actor.allows(APPROVALS_DECIDE):
        return rows.none()
    groups = [role for role in actor.roles if role in eligible_roles(None)]
    if not groups:
        return rows.none()
    mine = rows.exclude(requesters__contains=[actor.user_id]).filter(Q(group=None) | Q(group__in=groups))
    return mine.exclude(decisions__user_id=actor.user_id)


def _after(rows: QuerySet[ApprovalRequest], tab: str, after: tuple[Any, ...] | None) -> QuerySet[ApprovalRequest]:
    if tab == "decided":
        if after is not None:
            rows = rows.filter(Q(decided_at__lt=after[0]) | Q(decided_at=after[0], id__lt=after[1]))
        return rows.order_by("-decided_at", "-id")
    if after is not None:
        rows = rows.filter(Q(opened_at__gt=after[0]) | Q(opened_at=after[0], id__gt=after[1]))
    return rows.order_by("opened_at", "id")


def _rows(actor: Actor, found: Sequence[ApprovalRequest]) -> list[RequestRow]:
    people = _people(actor.tenant_id)
    voted: dict[UUID, list[UUID]] = {row.id: [] for row in found}
    approvals = Decision.objects.filter(request_id__in=voted, verdict=Verdict.APPROVE.value)
    for request_id, user_id in approvals.values_list("request_id", "user_id"):
        voted[request_id].append(user_id)
    return [
        RequestRow(r, _given(r, voted[r.id], people), why_not(actor, r, voted[r.id]), _shortage(r, people))
        for r in found
    ]


def _people(tenant_id: UUID) -> Mapping[UUID, frozenset[str]]:
    """The members who may decide anything now, with their roles."""
    members = Membership.objects.filter(
        tenant_id=tenant_id, roles__overlap=sorted(eligible_roles(None)), user__is_active=True
    )
    return {user_id: frozenset(roles) for user_id, roles in members.values_list("user_id", "roles")}


def _given(row: ApprovalRequest, approved_by: Sequence[UUID], people: Mapping[UUID, frozenset[str]]) -> int:
    """The approvals; while the request waits, only those of people who may still decide it."""
    if row.status != RequestStatus.PENDING.value:
        return len(approved_by)
    return standing([(user, people.get(user, frozenset())) for user in approved_by], row.requesters, row.group)


def _shortage(row: ApprovalRequest, people: Mapping[UUID, frozenset[str]]) -> str:
    if row.status != RequestStatus.PENDING.value:
        return ""
    return shortage(list(people.items()), row.requesters, row.group, row.quorum)
