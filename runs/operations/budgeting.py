"""A team's default budget: what applies where an agent's own says nothing.

`keep_team_budget` takes part in the tenant transaction that its caller has opened; `set_team_budget` opens its own.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from agentops.tenancy.access import require_role
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.scopes import OWNER
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.budget import Limits, default_limits
from runs.domain.errors import InvalidBudget
from runs.models import TeamBudget
from tools.domain.canonical import canonical, parse
from tools.domain.faults import faults_of


def set_team_budget(actor: Actor, budget: Mapping[str, Any]) -> TeamBudget:
    """The team's default budget, for runs that start from now on. Raises InvalidBudget, ScopeMissing."""
    with tenant_transaction(actor.tenant_id):
        return keep_team_budget(actor, budget)


def keep_team_budget(actor: Actor, budget: Mapping[str, Any]) -> TeamBudget:
    """The same, in an open transaction; saving what is there already changes and records nothing."""
    require_role(actor, OWNER)
    checked = _checked(budget)
    text = canonical(checked)
    row, is_new = TeamBudget.objects.select_for_update().get_or_create(
        tenant_id=actor.tenant_id, defaults={"budget": text}
    )
    if is_new or row.budget != text:
        row.budget = text
        row.save(update_fields=["budget"])
        record_change(actor.tenant_id, "budget.saved", actor.label, budget=text)
    return row


def team_limits(tenant_id: UUID) -> Limits:
    """What applies to an agent that says nothing, inside a tenant transaction."""
    text = TeamBudget.objects.filter(tenant_id=tenant_id).values_list("budget", flat=True).first()
    return default_limits(parse(text) if text else {})


def _checked(budget: Mapping[str, Any]) -> dict[str, Any]:
    try:
        Limits.model_validate(budget)
    except ValidationError as error:
        raise InvalidBudget(faults_of(error, "/budget")) from None
    return dict(budget)
