"""Everything a tool admin can do to a tool, one transaction each."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from tools import changes
from tools.changes import readable_spec
from tools.declare import declared
from tools.domain.errors import ToolNotFound
from tools.domain.spec import ToolSpec
from tools.models import Tool, ToolVersion


def register_tool(actor: Actor, definition: Any) -> ToolVersion:
    """A new tool. `definition` is exact JSON or a ToolSpec. Raises InvalidTool, ToolNameTaken."""
    with tenant_transaction(actor.tenant_id):
        return changes.add_tool(actor, definition)


def update_tool(actor: Actor, name: str, definition: Any, *, revision: int | None = None) -> ToolVersion:
    """A new current version, or the version that has this content already.

    With `revision` the change is refused when somebody else changed the tool since. Raises InvalidTool, ToolNotFound,
    ToolRenamed, ToolMoved.
    """
    with tenant_transaction(actor.tenant_id):
        return changes.change_tool(actor, name, definition, revision=revision)


def set_enabled(actor: Actor, name: str, *, enabled: bool, revision: int | None = None) -> Tool:
    """Switch a tool on or off; calls already cleared are checked again when they are claimed."""
    with tenant_transaction(actor.tenant_id):
        return changes.switch_tool(actor, name, enabled=enabled, revision=revision)


def install_code_tools(tenant_id: UUID, names: Collection[str], *, by: str = "code") -> list[ToolVersion]:
    """The tools declared under these names, as tools of this tenant; a new version only where the content changed."""
    code = declared()
    missing = sorted(set(names) - set(code))
    if missing:
        raise ToolNotFound(f"No code declares {', '.join(missing)}.")
    return install_specs(tenant_id, [code[name].spec for name in names], by=by)


def install_specs(tenant_id: UUID, specs: Collection[ToolSpec], *, by: str) -> list[ToolVersion]:
    """These definitions as tools of the tenant, in one transaction; running it again changes nothing."""
    checked = [readable_spec(spec) for spec in specs]
    with tenant_transaction(tenant_id):
        return changes.put_tools(tenant_id, checked, by=by)
