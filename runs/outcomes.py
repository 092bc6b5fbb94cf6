"""What the Inbox reads of calls whose outcome nobody knows yet, and how much waits in each of its tabs."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ
from agentops.tenancy.transaction import tenant_transaction
from approvals.counting import capped_counts
from approvals.queries import tab_rows
from runs.domain.step import StepStatus
from runs.models import Step
from runs.queries import Page, StepView, capped_count, step_views


def unknown_steps(actor: Actor, *, after: tuple[Any, ...] | None = None, size: int = 25) -> Page[StepView]:
    """Steps whose outcome nobody knows, newest first."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        rows = _unknown(actor)
        count = capped_count(rows)
        if after is not None:
            rows = rows.filter(Q(created_at__lt=after[0]) | Q(created_at=after[0], id__lt=after[1]))
        found = step_views(rows.order_by("-created_at", "-id")[: size + 1])
        last = found[size - 1].step if len(found) > size else None
        return Page(found[:size], count, (last.created_at, last.id) if last else None)


@dataclass(frozen=True)
class InboxCounts:
    """How many rows each tab has, up to a thousand and one."""

    mine: int
    pending: int
    unknown: int


def inbox_counts(actor: Actor) -> InboxCounts:
    """What is this person's to decide, what is pending, and what nobody knows the outcome of; in one statement."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        return InboxCounts(*capped_counts(*tab_rows(actor, "mine", "pending"), _unknown(actor)))


def _unknown(actor: Actor) -> QuerySet[Step]:
    return Step.objects.filter(tenant_id=actor.tenant_id, status=StepStatus.UNKNOWN.value)
