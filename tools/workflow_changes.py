"""Changes to workflows: each changed definition is a new immutable version.

`add_workflow` and `change_workflow` take part in the tenant transaction that their caller has opened; the others open
their own.
"""

from collections import Counter
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count
from django.db.models.functions import Now

from agentops.after_commit import tell_later
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.scopes import TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from tools.domain.errors import (
    InvalidWorkflow,
    SpecFault,
    WorkflowChanged,
    WorkflowNameTaken,
    WorkflowNotFound,
    WorkflowRenamed,
)
from tools.domain.workflow import WorkflowSpec, parse_workflow
from tools.models import Tool, Workflow, WorkflowInstance, WorkflowVersion
from tools.workflow_handles import read_workflow


def create_workflow(actor: Actor, definition: Any) -> WorkflowVersion:
    """A new workflow. Raises InvalidWorkflow, WorkflowNameTaken, ScopeMissing."""
    with tenant_transaction(actor.tenant_id):
        return add_workflow(actor, definition)


def update_workflow(actor: Actor, name: str, changes: dict[str, Any], *, version: int | None = None) -> WorkflowVersion:
    """The workflow with these parts of its definition changed. `version`: the number that the caller had read.

    Raises InvalidWorkflow, WorkflowNotFound, WorkflowRenamed, WorkflowChanged, ScopeMissing.
    """
    with tenant_transaction(actor.tenant_id):
        return change_workflow(actor, name, changes, version=version)


def install_workflow(tenant_id: UUID, definition: Any, *, by: str = "code") -> WorkflowVersion:
    """The workflow with this definition, made or brought up to date, for what sets a tenant up."""
    spec = _readable(definition)
    with tenant_transaction(tenant_id):
        Workflow.objects.bulk_create([Workflow(tenant_id=tenant_id, name=spec.name)], ignore_conflicts=True)
        return _make_current(_lock(tenant_id, spec.name), spec, by)


def add_workflow(actor: Actor, definition: Any) -> WorkflowVersion:
    """A new workflow with its first version."""
    require_scope(actor, TOOLS_WRITE)
    spec = _readable(definition)
    try:
        with transaction.atomic():
            workflow = Workflow.objects.create(tenant_id=actor.tenant_id, name=spec.name)
    except IntegrityError:
        raise WorkflowNameTaken(f"A workflow named {spec.name} exists already.") from None
    return _make_current(workflow, spec, actor.label)


def change_workflow(actor: Actor, name: str, changes: dict[str, Any], *, version: int | None = None) -> WorkflowVersion:
    """A new current version, or the version that has this content already."""
    require_scope(actor, TOOLS_WRITE)
    workflow = _lock(actor.tenant_id, name)
    current = workflow.current
    if current is None:
        raise WorkflowNotFound
    if version is not None and current.number != version:
        raise WorkflowChanged(version=current.number)
    spec = _readable({**read_workflow(current.spec).model_dump(mode="python"), **changes})
    if spec.name != name:
        raise WorkflowRenamed
    return _make_current(workflow, spec, actor.label)


def _readable(definition: Any) -> WorkflowSpec:
    """Checked, and read back from its own canonical text, so that what is used is what is stored."""
    return read_workflow(parse_workflow(definition).text)


def _lock(tenant_id: UUID, name: str) -> Workflow:
    rows = Workflow.objects.select_for_update(of=("self",)).select_related("current")
    workflow = rows.filter(tenant_id=tenant_id, name=name).first()
    if workflow is None:
        raise WorkflowNotFound
    return workflow


def _make_current(workflow: Workflow, spec: WorkflowSpec, by: str) -> WorkflowVersion:
    if faults := [*_tool_faults(workflow, spec), *_stranded(workflow, spec)]:
        raise InvalidWorkflow(faults)
    rows = WorkflowVersion.objects.filter(tenant_id=workflow.tenant_id, workflow=workflow)
    version = rows.filter(content_hash=spec.content_hash).first()
    if version is None:
        version = WorkflowVersion.objects.create(
            tenant_id=workflow.tenant_id,
            workflow=workflow,
            number=rows.count() + 1,
            content_hash=spec.content_hash,
            spec=spec.text,
            created_by=by,
        )
    if workflow.current_id != version.id:
        _gate(workflow, spec)
        Workflow.objects.filter(pk=workflow.pk).update(current=version, updated_at=Now())
        number, content = version.number, version.content_hash
        record_change(
            workflow.tenant_id, "workflow.saved", by, workflow=workflow.name, version=number, content_hash=content
        )
        tell_later(workflow.tenant_id, "workflow", workflow.id)
    return version


def _gate(workflow: Workflow, spec: WorkflowSpec) -> None:
    """A tool is gated while the current version of some workflow binds it."""
    before = read_workflow(workflow.current.spec).bound if workflow.current else {}
    rows = Tool.objects.filter(tenant_id=workflow.tenant_id, name__in={*before, *spec.bound})
    # Locked, and by name, before the other workflows are read: of two that change at once the later one sees both.
    tools = list(rows.select_for_update().order_by("name"))
    others = Workflow.objects.filter(tenant_id=workflow.tenant_id, current__isnull=False).exclude(pk=workflow.pk)
    specs = [spec, *map(read_workflow, others.values_list("current__spec", flat=True))]
    for tool in tools:
        Tool.objects.filter(pk=tool.pk).update(gated=any(tool.name in each.bound for each in specs))


def _tool_faults(workflow: Workflow, spec: WorkflowSpec) -> list[SpecFault]:
    """A binding to nothing would let the tool that was meant go ungated."""
    rows = Tool.objects.filter(tenant_id=workflow.tenant_id, name__in=spec.bound, current__isnull=False)
    known = set(rows.values_list("name", flat=True))
    return [
        SpecFault(f"/bindings/{index}/tool", f"There is no tool named {binding.tool}.")
        for index, binding in enumerate(spec.bindings)
        if binding.tool not in known
    ]


def _stranded(workflow: Workflow, spec: WorkflowSpec) -> list[SpecFault]:
    """No handle may stand, or be on its way to, where this version has no state, unless it had ended there."""
    if workflow.current is None:
        return []
    rows = WorkflowInstance.objects.filter(tenant_id=workflow.tenant_id, workflow=workflow)
    before, numbers = read_workflow(workflow.current.spec), Counter[str]()
    for state, to, number in rows.values_list("state", "taken_to").annotate(number=Count("id")):
        numbers.update(dict.fromkeys({state, to} - {""}, number))
    return [
        SpecFault("/machine/states", f"{number} handles stand in {state}, which this version does not have.")
        for state, number in sorted(numbers.items())
        if not spec.has(state) and before.has(state) and not before.is_final(state)
    ]
