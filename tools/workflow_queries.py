"""Workflows, their versions and handles as doors show them, read inside an open tenant transaction."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from tools.domain.errors import WorkflowNotFound
from tools.domain.standing import Standing
from tools.domain.statechart import APART
from tools.domain.workflow import WorkflowSpec
from tools.models import Workflow, WorkflowInstance, WorkflowVersion
from tools.workflow_handles import read_workflow, standing_of

MAX_PAGE = 200
COUNT_UP_TO = 1000


@dataclass(frozen=True, slots=True)
class WorkflowRow:
    """One workflow with its current definition, and how many handles stand in each state."""

    id: UUID
    number: int
    spec: WorkflowSpec
    updated_at: dt.datetime
    standing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkflowVersionRow:
    """One version of a workflow."""

    id: UUID
    number: int
    content_hash: str
    spec: WorkflowSpec
    created_by: str
    created_at: dt.datetime
    current: bool


@dataclass(frozen=True, slots=True)
class WorkflowPage:
    """Rows by name, and the name after which the next page starts, if there is one."""

    rows: tuple[WorkflowRow, ...]
    next: str | None
    count: int


@dataclass(frozen=True, slots=True)
class HandlePage:
    """Handles in their order; `count` is None above `COUNT_UP_TO`."""

    rows: tuple[Standing, ...]
    next: str | None
    count: int | None


def list_workflows(tenant_id: UUID, *, after: str = "", limit: int = 50) -> WorkflowPage:
    """A page of workflows by name."""
    size = max(1, min(limit, MAX_PAGE))
    rows = Workflow.objects.filter(tenant_id=tenant_id, current__isnull=False)
    found = list(rows.filter(name__gt=after).select_related("current").order_by("name")[: size + 1])
    page, counts = found[:size], _standing(tenant_id, found[:size])
    more = page[-1].name if len(found) > size else None
    return WorkflowPage(tuple(_row(row, counts.get(row.id, {})) for row in page), more, rows.count())


def find_workflow(tenant_id: UUID, name: str) -> WorkflowRow:
    """One workflow. Raises WorkflowNotFound."""
    row = _workflow(tenant_id, name)
    return _row(row, _standing(tenant_id, [row]).get(row.id, {}))


def list_workflow_versions(
    tenant_id: UUID, name: str, *, before: int | None = None, limit: int = 50
) -> list[WorkflowVersionRow]:
    """The versions of a workflow, newest first, those below number `before`. Raises WorkflowNotFound."""
    workflow = _workflow(tenant_id, name)
    rows = WorkflowVersion.objects.filter(tenant_id=tenant_id, workflow=workflow).order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    return [_version(row, workflow.current_id) for row in rows[: max(1, min(limit, MAX_PAGE))]]


def list_handles(tenant_id: UUID, name: str, *, state: str = "", after: str = "", limit: int = 50) -> HandlePage:
    """A page of a workflow's handles, of those that are in `state` (too) if it is given. Raises WorkflowNotFound."""
    size = max(1, min(limit, MAX_PAGE))
    rows = WorkflowInstance.objects.filter(tenant_id=tenant_id, workflow=_workflow(tenant_id, name))
    if state:
        several = (f"{state}{APART}", f"{APART}{state}", f"{APART}{state}{APART}")
        alone = Q(state=state) | Q(state__startswith=several[0])
        rows = rows.filter(alone | Q(state__endswith=several[1]) | Q(state__contains=several[2]))
    counted = rows[: COUNT_UP_TO + 1].count()
    found = list(rows.filter(handle__gt=after).select_related("workflow__current").order_by("handle")[: size + 1])
    more = found[size - 1].handle if len(found) > size else None
    page = tuple(standing_of(row) for row in found[:size])
    return HandlePage(page, more, counted if counted <= COUNT_UP_TO else None)


def handle_keys(tenant_id: UUID) -> dict[str, str]:
    """By which argument a call of each bound tool names its run; the first workflow by name says it."""
    rows = Workflow.objects.filter(tenant_id=tenant_id, current__isnull=False).select_related("current")
    specs = [read_workflow(row.current.spec) for row in rows.order_by("-name") if row.current is not None]
    return {tool: spec.state_handle_key for spec in specs for tool in spec.bound}


def _workflow(tenant_id: UUID, name: str) -> Workflow:
    rows = Workflow.objects.filter(tenant_id=tenant_id, current__isnull=False, name=name)
    found = rows.select_related("current").first()
    if found is None:
        raise WorkflowNotFound
    return found


def _standing(tenant_id: UUID, workflows: list[Workflow]) -> dict[UUID, dict[str, int]]:
    rows = WorkflowInstance.objects.filter(tenant_id=tenant_id, workflow__in=workflows)
    counts: dict[UUID, dict[str, int]] = {}
    for workflow_id, state, number in rows.values_list("workflow_id", "state").annotate(number=Count("id")):
        counts.setdefault(workflow_id, {})[state] = number
    return counts


def _row(row: Workflow, standing: Mapping[str, int]) -> WorkflowRow:
    if row.current is None:
        raise WorkflowNotFound
    return WorkflowRow(row.id, row.current.number, read_workflow(row.current.spec), row.updated_at, standing)


def _version(row: WorkflowVersion, current_id: UUID | None) -> WorkflowVersionRow:
    spec, current = read_workflow(row.spec), row.id == current_id
    return WorkflowVersionRow(row.id, row.number, row.content_hash, spec, row.created_by, row.created_at, current)
