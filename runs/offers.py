"""What an outside agent is offered: the tools of its run, or of its agent before it has one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import AgentUnnamed, RunNotFound, UnknownAgent
from runs.models import Agent, AgentVersion, Run
from runs.standings import standings
from tools.call import PinnedTool
from tools.domain.standing import Standing, nowhere
from tools.registry import current_versions, is_in_place, is_offered
from tools.workflow_queries import handle_keys


@dataclass(frozen=True)
class Offer:
    """The agent's tools that may be used, by name, in whatever state; `run` is None before the first call.

    `standing`: where the run's workflow stands. `handle_keys`: by which argument a call of a gated tool names its run.
    """

    agent: str
    run: Run | None
    tools: Sequence[PinnedTool]
    standing: Standing | None = None
    handle_keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_place(self) -> list[PinnedTool]:
        """The tools that may be called where the run stands."""
        return [tool for tool in self.tools if is_in_place(tool, self.standing)]

    @property
    def told(self) -> dict[str, Any]:
        """What `Standing.told` says, with nulls for a run without a workflow."""
        usable = {tool.name: tool.gated for tool in self.tools}
        return self.standing.told(usable) if self.standing else nowhere(usable)

    def tool(self, name: str) -> PinnedTool | None:
        """The tool of this name, if it is offered."""
        return next((tool for tool in self.tools if tool.name == name), None)


def offer_of_run(actor: Actor, run_id: UUID) -> Offer:
    """Raises RunNotFound, also for a run that another principal started or that plans for itself."""
    with tenant_transaction(actor.tenant_id):
        run = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).select_related("agent_version").first()
        if run is None or run.principal != actor.principal or run.agent_version.planner != "external":
            raise RunNotFound
        return _offer(actor, run.agent_slug, run.agent_version, run)


def offer_of_agent(actor: Actor, slug: str) -> Offer:
    """Raises UnknownAgent."""
    with tenant_transaction(actor.tenant_id):
        found = Agent.objects.filter(tenant_id=actor.tenant_id, slug=slug, enabled=True, current__planner="external")
        agent = found.select_related("current").first()
        if agent is None or agent.current is None:
            raise UnknownAgent(f"There is no enabled external agent {slug!r}.")
        return _offer(actor, slug, agent.current, None)


def only_agent(actor: Actor) -> str:
    """The slug of the tenant's external agent. Raises AgentUnnamed where it has none, or several."""
    with tenant_transaction(actor.tenant_id):
        found = Agent.objects.filter(tenant_id=actor.tenant_id, enabled=True, current__planner="external")
        slugs = list(found.values_list("slug", flat=True)[:2])
    if len(slugs) != 1:
        raise AgentUnnamed
    return slugs[0]


def _offer(actor: Actor, slug: str, version: AgentVersion, run: Run | None) -> Offer:
    found = current_versions(actor.tenant_id, version.tools).values()
    tools = sorted((tool for tool in found if is_offered(tool, actor.scopes)), key=lambda tool: tool.name)
    standing = standings(actor.tenant_id, [run]).get(run.id) if run is not None else None
    keys = handle_keys(actor.tenant_id) if any(tool.gated for tool in tools) else {}
    return Offer(slug, run, tools, standing, keys)
