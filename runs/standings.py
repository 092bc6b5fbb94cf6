"""Where the workflows of runs stand, for doors and lists."""

from collections.abc import Iterable
from uuid import UUID

from runs.models import Run
from tools.domain.standing import Standing
from tools.models import WorkflowInstance
from tools.workflow_handles import standing_of


def standings(tenant_id: UUID, runs: Iterable[Run]) -> dict[UUID, Standing]:
    """Where each of these runs that has a workflow stands, by the run's id; inside the caller's tenant transaction."""
    placed = {run.id: run.workflow_at_id for run in runs if run.workflow_at_id is not None}
    if not placed:
        return {}
    rows = WorkflowInstance.objects.filter(tenant_id=tenant_id, id__in=set(placed.values()))
    found = {row.id: standing_of(row) for row in rows.select_related("workflow__current")}
    return {run_id: found[row_id] for run_id, row_id in placed.items()}
