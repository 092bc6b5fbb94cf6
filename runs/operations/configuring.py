"""Saves agents: each change of what an agent is makes a new immutable version.

`add_agent`, `change_agent` and `switch_agent` take part in the tenant transaction that their caller has opened; the
others open their own.
"""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from agentops.after_commit import tell_later
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.agent import CheckedAgent, check_agent, surroundings
from runs.domain.errors import AgentExists, AgentMoved, AgentNotFound, InvalidAgent
from runs.models import Agent, AgentVersion
from runs.operations.model_surroundings import model_faults
from tools.domain.canonical import parse
from tools.registry import current_versions


def create_agent(actor: Actor, **definition: Any) -> Agent:
    """A new agent. Raises InvalidAgent, AgentExists, ScopeMissing."""
    with tenant_transaction(actor.tenant_id):
        return add_agent(actor, definition)


def update_agent(actor: Actor, slug: str, *, enabled: bool | None = None, **changes: Any) -> Agent:
    """The agent with these parts of its definition changed, and switched on or off if asked.

    Raises InvalidAgent, AgentNotFound, ScopeMissing.
    """
    with tenant_transaction(actor.tenant_id):
        agent = change_agent(actor, slug, changes)
        return agent if enabled is None else switch_agent(actor, slug, enabled=enabled)


def install_agent(tenant_id: UUID, *, by: str = "code", **definition: Any) -> Agent:
    """The agent with this definition, made or brought up to date, for what sets a tenant up. Raises InvalidAgent."""
    checked = check_agent(definition)
    with tenant_transaction(tenant_id):
        _check_surroundings(tenant_id, checked)
        agent, _ = Agent.objects.select_for_update().get_or_create(
            tenant_id=tenant_id, slug=checked.spec.slug, defaults={"name": checked.spec.name, "created_at": Now()}
        )
        return _make_current(agent, checked, by)


def add_agent(actor: Actor, definition: dict[str, Any]) -> Agent:
    """A new agent with its first version."""
    require_scope(actor, TOOLS_WRITE)
    checked = check_agent(definition)
    _check_surroundings(actor.tenant_id, checked)
    spec = checked.spec
    try:
        with transaction.atomic():
            agent = Agent.objects.create(tenant_id=actor.tenant_id, slug=spec.slug, name=spec.name, created_at=Now())
    except IntegrityError:
        hint = f"PATCH /api/v1/agents/{spec.slug} makes a new version of it."
        raise AgentExists(f"There is an agent {spec.slug} already.", hint=hint, pointer="/slug") from None
    return _make_current(agent, checked, actor.label)


def change_agent(actor: Actor, slug: str, changes: dict[str, Any], *, version: int | None = None) -> Agent:
    """A new current version where the definition changed. `version`: the number that the caller had read."""
    require_scope(actor, TOOLS_WRITE)
    agent = _lock_agent(actor.tenant_id, slug)
    current = agent.current
    if version is not None and (current is None or current.number != version):
        raise AgentMoved(version=current.number if current else None)
    checked = check_agent({**definition_of(agent), **changes, "slug": slug})
    _check_surroundings(actor.tenant_id, checked)
    return _make_current(agent, checked, actor.label)


def switch_agent(actor: Actor, slug: str, *, enabled: bool) -> Agent:
    """The agent, switched on or off: a disabled one starts no new runs; those under way go on."""
    require_scope(actor, TOOLS_WRITE)
    agent = _lock_agent(actor.tenant_id, slug)
    if agent.enabled != enabled:
        agent.enabled = enabled
        agent.save(update_fields=["enabled"])
        record_change(agent.tenant_id, "agent.enabled" if enabled else "agent.disabled", actor.label, agent=slug)
        tell_later(agent.tenant_id, "agent", agent.id)
    return agent


def definition_of(agent: Agent) -> dict[str, Any]:
    """The agent as `check_agent` reads it."""
    version = agent.current
    if version is None:
        raise AgentNotFound
    return {
        "slug": agent.slug,
        "name": agent.name,
        "description": agent.description,
        "planner": version.planner,
        "tools": version.tools,
        "playbook": parse(version.playbook) if version.playbook else None,
        "model": parse(version.model) if version.model else None,
        "budget": parse(version.budget),
    }


def _check_surroundings(tenant_id: UUID, agent: CheckedAgent) -> None:
    tools = current_versions(tenant_id, agent.spec.tools)
    known = {name: tool.spec for name, tool in tools.items()}
    if faults := [*surroundings(agent, known), *model_faults(tenant_id, agent)]:
        raise InvalidAgent(faults)


def _lock_agent(tenant_id: UUID, slug: str) -> Agent:
    agent = Agent.objects.select_for_update(of=("self",)).filter(tenant_id=tenant_id, slug=slug).first()
    if agent is None:
        raise AgentNotFound
    return agent


def _make_current(agent: Agent, checked: CheckedAgent, by: str) -> Agent:
    current = AgentVersion.objects.filter(tenant_id=agent.tenant_id, agent=agent).order_by("-number").first()
    if current is None or current.content_hash != checked.content_hash:
        current = AgentVersion.objects.create(
            id=uuid7(),
            tenant_id=agent.tenant_id,
            agent=agent,
            number=1 if current is None else current.number + 1,
            content_hash=checked.content_hash,
            created_at=Now(),
            created_by=by,
            **checked.fields,
        )
    before = (agent.name, agent.description, agent.current_id)
    agent.name, agent.description, agent.current = checked.spec.name, checked.spec.description, current
    if before != (agent.name, agent.description, current.id):
        agent.save(update_fields=["name", "description", "current"])
        number, content = current.number, current.content_hash
        record_change(agent.tenant_id, "agent.saved", by, agent=agent.slug, version=number, content_hash=content)
        tell_later(agent.tenant_id, "agent", agent.id)
    return agent
