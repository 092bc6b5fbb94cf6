"""Saves agents: each change is a new immutable version."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from pydantic import ValidationError

from agentops.tenancy.access import require_role
from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import OWNER, TOOL_ADMIN
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.budget import Limits
from runs.domain.errors import InvalidRequest
from runs.domain.playbook import read_playbook
from runs.models import Agent, AgentVersion
from tools.domain.canonical import canonical, parse

PLANNERS = ("playbook", "external")


def save_agent(actor: Actor, **definition: Any) -> Agent:
    """As `install_agent`, for a member who may. Raises ScopeMissing."""
    require_role(actor, OWNER, TOOL_ADMIN)
    return install_agent(actor.tenant_id, **definition)


def install_agent(
    tenant_id: UUID,
    *,
    slug: str,
    name: str,
    planner: str,
    tools: Sequence[str],
    playbook: Any = None,
    budget: Any = None,
    description: str = "",
) -> Agent:
    """The agent with this definition as its current version. Raises InvalidRequest naming the place."""
    if planner not in PLANNERS:
        raise InvalidRequest(f"The planner must be one of {', '.join(PLANNERS)}.", pointer="/planner")
    script = canonical(playbook) if planner == "playbook" else ""
    if script:
        read_playbook(script)
    limits = canonical(budget or {})
    check_limits(limits)
    fields = {"planner": planner, "playbook": script, "tools": sorted(set(tools)), "budget": limits}
    digest = sha256(canonical(fields).encode()).hexdigest()
    with tenant_transaction(tenant_id):
        agent, _ = Agent.objects.select_for_update().get_or_create(
            tenant_id=tenant_id, slug=slug, defaults={"name": name, "description": description, "created_at": Now()}
        )
        current = AgentVersion.objects.filter(tenant_id=tenant_id, agent=agent).order_by("-number").first()
        if current is None or current.content_hash != digest:
            number = 1 if current is None else current.number + 1
            current = AgentVersion.objects.create(
                id=uuid7(), tenant_id=tenant_id, agent=agent, number=number, content_hash=digest, created_at=Now(),
                **fields,
            )  # fmt: skip
        agent.name, agent.description, agent.current = name, description, current
        agent.save(update_fields=["name", "description", "current"])
    return agent


def check_limits(text: str) -> None:
    """Raises InvalidRequest unless the text is a JSON object of budgets."""
    try:
        Limits.model_validate(parse(text))
    except ValidationError as error:
        fault = error.errors()[0]
        place = "/budget/" + "/".join(str(p) for p in fault["loc"])
        raise InvalidRequest(f"{place}: {fault['msg']}", pointer=place) from None
