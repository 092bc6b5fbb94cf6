"""Changes to tools inside a tenant transaction that the caller has opened."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now

from agentops.after_commit import tell_later
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.scopes import TOOLS_WRITE
from tools.domain.checks import parse_spec
from tools.domain.egress import destination
from tools.domain.errors import InvalidTool, SpecFault, ToolMoved, ToolNameTaken, ToolNotFound, ToolRenamed
from tools.domain.http_request import fixed_url
from tools.domain.spec import ToolSpec
from tools.models import Credential, Tool, ToolVersion
from tools.registry import read_spec


def add_tool(actor: Actor, definition: Any) -> ToolVersion:
    """A new tool with its first version."""
    require_scope(actor, TOOLS_WRITE)
    spec = readable_spec(definition)
    _check_surroundings(actor.tenant_id, spec)
    try:
        with transaction.atomic():
            tool = Tool.objects.create(tenant_id=actor.tenant_id, name=spec.name)
    except IntegrityError:
        raise ToolNameTaken(f"A tool named {spec.name} exists already.") from None
    return _make_current(tool, spec, actor.label)


def change_tool(actor: Actor, name: str, definition: Any, *, revision: int | None = None) -> ToolVersion:
    """A new current version of the tool, or the version that has this content already."""
    require_scope(actor, TOOLS_WRITE)
    spec = readable_spec(definition)
    if spec.name != name:
        raise ToolRenamed
    tool = lock_tool(actor.tenant_id, name)
    _check_revision(tool, revision)
    _check_surroundings(actor.tenant_id, spec)
    return _make_current(tool, spec, actor.label)


def switch_tool(actor: Actor, name: str, *, enabled: bool, revision: int | None = None) -> Tool:
    """The tool, switched on or off."""
    require_scope(actor, TOOLS_WRITE)
    tool = lock_tool(actor.tenant_id, name)
    _check_revision(tool, revision)
    if tool.enabled != enabled:
        tool.enabled = enabled
        _saved(tool, "enabled")
        record_change(actor.tenant_id, "tool.enabled" if enabled else "tool.disabled", actor.label, tool=name)
    return tool


def put_tools(tenant_id: UUID, specs: Sequence[ToolSpec], *, by: str) -> list[ToolVersion]:
    """These definitions as tools of the tenant, made or brought up to date; probes may be among them."""
    for spec in specs:
        Tool.objects.bulk_create([Tool(tenant_id=tenant_id, name=spec.name)], ignore_conflicts=True)
    # Every tool is locked before the first change is recorded: the end of the tenant's chain is the last lock.
    tools = {name: lock_tool(tenant_id, name) for name in sorted({spec.name for spec in specs})}
    versions = [_make_current(tools[spec.name], spec, by) for spec in specs]
    for spec in specs:
        _check_surroundings(tenant_id, spec)
    return versions


def lock_tool(tenant_id: UUID, name: str) -> Tool:
    """The tool's row, locked. Raises ToolNotFound."""
    tool = Tool.objects.select_for_update().filter(tenant_id=tenant_id, name=name).first()
    if tool is None:
        raise ToolNotFound
    return tool


def readable_spec(definition: Any) -> ToolSpec:
    """Checked, and read back from its own canonical text, so that what is used is what is stored."""
    return parse_spec(definition.model_dump(mode="python") if isinstance(definition, ToolSpec) else definition)


def _check_revision(tool: Tool, revision: int | None) -> None:
    if revision is not None and tool.revision != revision:
        raise ToolMoved(revision=tool.revision)


def _check_surroundings(tenant_id: UUID, spec: ToolSpec) -> None:
    """What the definition names must exist: its credential, for its host, and its probes, which are reads."""
    faults = [*_probe_faults(tenant_id, spec), *_credential_faults(tenant_id, spec)]
    if faults:
        raise InvalidTool(faults)


def _probe_faults(tenant_id: UUID, spec: ToolSpec) -> list[SpecFault]:
    probes = {f"/preconditions/{i}/probe/tool": p.probe.tool for i, p in enumerate(spec.preconditions)}
    if spec.reconcile is not None:
        probes["/reconcile/probe/tool"] = spec.reconcile.probe.tool
    found = Tool.objects.filter(tenant_id=tenant_id, name__in=set(probes.values())).select_related("current")
    risks = {tool.name: read_spec(tool.current.spec).risk for tool in found if tool.current is not None}
    faults = []
    for pointer, name in probes.items():
        if name not in risks:
            faults.append(SpecFault(pointer, f"There is no tool named {name}."))
        elif risks[name] != "read":
            faults.append(SpecFault(pointer, f"{name} is not a read, so it cannot be a probe."))
    return faults


def _credential_faults(tenant_id: UUID, spec: ToolSpec) -> list[SpecFault]:
    if spec.credential is None:
        return []
    row = Credential.objects.filter(tenant_id=tenant_id, name=spec.credential).first()
    if row is None:
        return [SpecFault("/credential", f"There is no credential named {spec.credential}.")]
    if spec.http is not None and row.destination != str(destination(fixed_url(spec.http))):
        return [SpecFault("/credential", f"{spec.credential} may only be sent to {row.destination}.")]
    return []


def _make_current(tool: Tool, spec: ToolSpec, by: str) -> ToolVersion:
    version = ToolVersion.objects.filter(tenant_id=tool.tenant_id, tool=tool, content_hash=spec.content_hash).first()
    if version is None:
        last = ToolVersion.objects.filter(tenant_id=tool.tenant_id, tool=tool).aggregate(last=Max("number"))["last"]
        version = ToolVersion.objects.create(
            tenant_id=tool.tenant_id,
            tool=tool,
            number=(last or 0) + 1,
            content_hash=spec.content_hash,
            schema_hash=spec.schema_hash,
            spec=spec.text,
            created_by=by,
        )
    if tool.current_id != version.id:
        tool.current = version
        _saved(tool, "current")
        record_change(
            tool.tenant_id, "tool.saved", by, tool=tool.name, version=version.number, content_hash=version.content_hash
        )
    return version


def _saved(tool: Tool, field: str) -> None:
    tool.revision += 1
    tool.save(update_fields=[field, "revision"])
    Tool.objects.filter(pk=tool.pk).update(updated_at=Now())
    tell_later(tool.tenant_id, "tool", tool.id)
