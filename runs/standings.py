"""What doors read of a run's workflow: where it stands, and which tools its agent is offered there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import RunNotFound
from runs.models import Run
from tools.domain.standing import Standing, nowhere
from tools.domain.workflow import HANDLE_KEY
from tools.models import WorkflowInstance
from tools.registry import current_versions, is_offered, manifest_for
from tools.workflow_handles import standing_of


@dataclass(frozen=True)
class Offer:
    """What a run's agent may see now, for a door that lists tools.

    `tools`: `name, title, description, input_schema, risk` of each, by name. `told`: what `Standing.told` says, with
    nulls for a run without a workflow. `instance`: the row that a fact `workflow` is about. `handle_key`: the argument
    by which a call of a bound tool may name the run. `bound`: the agent's tools in scope that have states.
    """

    tools: list[dict[str, Any]]
    told: dict[str, Any]
    instance: UUID | None
    handle_key: str
    bound: frozenset[str]


def offer(actor: Actor, run_id: UUID, *, gated: bool = True) -> Offer:
    """The tools of the run's agent that `actor` may use, and where its workflow stands. Raises RunNotFound.

    `gated` false: tools that are bound to other states are listed too (the call is refused all the same).
    """
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        run = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).select_related("agent_version").first()
        if run is None:
            raise RunNotFound
        standing = standings(actor.tenant_id, [run]).get(run.id)
        tools = list(current_versions(actor.tenant_id, run.agent_version.tools).values())
    usable = {tool.name: tool.gated for tool in tools if is_offered(tool, actor.scopes)}
    return Offer(
        tools=manifest_for(actor.scopes, tools, standing, everywhere=not gated),
        told=standing.told(usable) if standing else nowhere(usable),
        instance=run.workflow_at_id,
        handle_key=standing.spec.state_handle_key if standing else HANDLE_KEY,
        bound=frozenset(name for name, is_gated in usable.items() if is_gated),
    )


def standings(tenant_id: UUID, runs: Iterable[Run]) -> dict[UUID, Standing]:
    """Where each of these runs that has a workflow stands, by the run's id; inside the caller's tenant transaction."""
    placed = {run.id: run.workflow_at_id for run in runs if run.workflow_at_id is not None}
    if not placed:
        return {}
    rows = WorkflowInstance.objects.filter(tenant_id=tenant_id, id__in=set(placed.values()))
    found = {row.id: standing_of(row) for row in rows.select_related("workflow__current")}
    return {run_id: found[row_id] for run_id, row_id in placed.items()}
