"""What an outside agent is offered: the tools of its run, or of its agent before it has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import AgentUnnamed, RunNotFound, UnknownAgent
from runs.models import Agent, AgentVersion, Run
from tools.call import PinnedTool
from tools.registry import current_versions, is_offered


@dataclass(frozen=True)
class Offer:
    """The tools that may be called, by name; `run` is None before the first call."""

    agent: str
    run: Run | None
    tools: Sequence[PinnedTool]

    def tool(self, name: str) -> PinnedTool | None:
        """The tool of this name, if it is offered."""
        return next((tool for tool in self.tools if tool.name == name), None)


def offer_of_run(actor: Actor, run_id: UUID) -> Offer:
    """Raises RunNotFound, also for a run that another principal started or that plans for itself."""
    with tenant_transaction(actor.tenant_id):
        run = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).select_related("agent_version").first()
        if run is None or run.principal != actor.principal or run.agent_version.planner != "external":
            raise RunNotFound
        return Offer(run.agent_slug, run, _tools(actor, run.agent_version))


def offer_of_agent(actor: Actor, slug: str) -> Offer:
    """Raises UnknownAgent."""
    with tenant_transaction(actor.tenant_id):
        found = Agent.objects.filter(tenant_id=actor.tenant_id, slug=slug, enabled=True, current__planner="external")
        agent = found.select_related("current").first()
        if agent is None or agent.current is None:
            raise UnknownAgent(f"There is no enabled external agent {slug!r}.")
        return Offer(slug, None, _tools(actor, agent.current))


def only_agent(actor: Actor) -> str:
    """The slug of the tenant's external agent. Raises AgentUnnamed where it has none, or several."""
    with tenant_transaction(actor.tenant_id):
        found = Agent.objects.filter(tenant_id=actor.tenant_id, enabled=True, current__planner="external")
        slugs = list(found.values_list("slug", flat=True)[:2])
    if len(slugs) != 1:
        raise AgentUnnamed
    return slugs[0]


def _tools(actor: Actor, version: AgentVersion) -> list[PinnedTool]:
    found = current_versions(actor.tenant_id, version.tools).values()
    return sorted((tool for tool in found if is_offered(tool, actor.scopes)), key=lambda tool: tool.name)
