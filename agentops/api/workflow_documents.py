"""What answers about workflows look like: the OpenAPI document's models, and the functions that fill them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from agentops.api.documents import JsonObject, Shown
from tools.domain.standing import Standing
from tools.workflow_queries import WorkflowRow, WorkflowVersionRow


class BindingDocument(Shown):
    """A tool, the states in which it is there, and the event that its success fires."""

    tool: str
    states: list[str]
    transition: str | None


class WorkflowDocument(Shown):
    """A workflow with its current definition. `standing`: how many handles stand in each state."""

    name: str
    description: str
    version: int
    content_hash: str
    machine: JsonObject
    bindings: list[BindingDocument]
    state_handle_key: str
    standing: dict[str, int]
    updated_at: datetime


class WorkflowVersionDocument(Shown):
    """One immutable version of a workflow."""

    id: UUID
    version: int
    content_hash: str
    current: bool
    created_by: str
    created_at: datetime
    definition: JsonObject


class InstanceDocument(Shown):
    """Where one handle stands. `busy`: a call that will move it has no known outcome yet."""

    handle: str
    state: str
    revision: int
    is_final: bool
    busy: bool
    updated_at: datetime


class WorkflowList(Shown):
    """One page of workflows."""

    results: list[WorkflowDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class WorkflowVersionList(Shown):
    """The versions of a workflow, newest first."""

    results: list[WorkflowVersionDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class InstanceList(Shown):
    """One page of handles."""

    results: list[InstanceDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


def workflow(row: WorkflowRow) -> dict[str, Any]:
    """A workflow with its current definition."""
    return {
        **row.spec.model_dump(mode="python"),
        "version": row.number,
        "content_hash": row.spec.content_hash,
        "standing": row.standing,
        "updated_at": row.updated_at,
    }


def version(row: WorkflowVersionRow) -> dict[str, Any]:
    """One immutable version."""
    return {
        "id": row.id,
        "version": row.number,
        "content_hash": row.content_hash,
        "current": row.current,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "definition": row.spec.model_dump(mode="python"),
    }


def instance(at: Standing) -> dict[str, Any]:
    """Where one handle stands."""
    return {
        "handle": at.handle,
        "state": at.state,
        "revision": at.revision,
        "is_final": at.is_final,
        "busy": at.taken_by is not None,
        "updated_at": at.updated_at,
    }
