"""What doors read of approval requests: values, evaluated, inside one tenant transaction each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from agentops.tenancy.access import eligible_people, require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import APPROVALS_DECIDE, APPROVALS_READ
from agentops.tenancy.transaction import tenant_transaction
from approvals.counting import COUNT_UP_TO, capped_counts
from approvals.domain.decision import Person, RequestStatus, eligible_roles, refusal
from approvals.domain.errors import ApprovalNotFound
from approvals.models import ApprovalRequest, Decision
from tools.domain.canonical import Json, canonical, parse


@dataclass(frozen=True)
class RequestRow:
    """A request in a list. `cannot` says why the reader cannot decide it, empty when they can."""

    request: ApprovalRequest
    given: int
    cannot: str


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
) -> RequestPage:
    """A page of requests; with `whole`, what was shown of each too.

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
        (found_count,) = capped_counts(rows)
        paged = _after(rows, tab, after)
        found = list((paged if whole else paged.defer("snapshot", "checks"))[: size + 1])
        given = _given([r.id for r in found])
        shown = [RequestRow(r, given.get(r.id, 0), why_not(actor, r)) for r in found[:size]]
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
        if row is None:
            raise ApprovalNotFound
        able = len(eligible_people(actor.tenant_id, eligible_roles(row.group)) - frozenset(row.requesters))
    snapshot: Any = parse(row.snapshot)
    checks: Any = parse(row.checks)
    votes = list(row.decisions.all())
    return RequestView(
        request=row,
        snapshot=snapshot,
        args_text=canonical(snapshot["args"]),
        checks=[c for c in checks if isinstance(c, dict)],
        decisions=votes,
        given=sum(1 for d in votes if d.verdict == "approve"),
        cannot=why_not(actor, row),
        eligible=sorted(eligible_roles(row.group)),
        able=able,
    )


def why_not(actor: Actor, row: ApprovalRequest) -> str:
    """Why this actor cannot decide this request; empty when they can."""
    person = Person(actor.user_id, actor.roles, actor.allows(APPROVALS_DECIDE), actor.label, actor.door)
    against = refusal(person, row.requesters, row.group)
    if against is not None:
        return against.message
    if row.status != RequestStatus.PENDING.value:
        return f"It is {row.status}."
    return ""


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


def _given(ids: Sequence[UUID]) -> dict[UUID, int]:
    given: dict[UUID, int] = {}
    for request_id in Decision.objects.filter(request_id__in=ids, verdict="approve").values_list(
        "request_id", flat=True
    ):
        given[request_id] = given.get(request_id, 0) + 1
    return given
