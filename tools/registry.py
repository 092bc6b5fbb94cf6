"""Names to tool versions, inside an open tenant transaction; what never changes is kept in the process."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection

from agentops.tenancy.scopes import allows
from agentops.tenancy.transaction import current_tenant
from tools.call import PinnedTool
from tools.domain.canonical import parse
from tools.domain.spec import ToolSpec
from tools.domain.standing import Standing

_KEPT_VERSIONS = 4096
_COLUMNS = "v.id, t.id, t.name, v.number, t.enabled, t.quarantined, v.schema_hash, v.id = t.current_id, t.gated"
_JOIN = "tools_tool t JOIN tools_toolversion v ON v.tenant_id = t.tenant_id"


def current_versions(tenant_id: UUID, names: Collection[str]) -> dict[str, PinnedTool]:
    """The current version of each of these tools that exists, by name."""
    sql = f"SELECT {_COLUMNS} FROM {_JOIN} AND v.id = t.current_id WHERE t.tenant_id = %s AND t.name = ANY(%s)"  # noqa: S608 - constants
    return {tool.name: tool for tool in _found(sql, [tenant_id, list(names)])}


def pinned(version_ids: Collection[UUID]) -> dict[UUID, PinnedTool]:
    """These versions, with the state that their tools have now."""
    sql = f"SELECT {_COLUMNS} FROM {_JOIN} AND v.tool_id = t.id WHERE t.tenant_id = %s AND v.id = ANY(%s)"  # noqa: S608 - constants
    return {tool.version_id: tool for tool in _found(sql, [current_tenant(), list(version_ids)])}


def manifest_for(
    scopes: frozenset[str],
    tools: Iterable[PinnedTool],
    standing: Standing | None = None,
) -> list[dict[str, Any]]:
    """What a planner may see: the enabled tools in scope, by name: `name, title, description, input_schema, risk`.

    `standing`: where the run's workflow stands. A tool that is bound to other states is not there, and in the initial
    state the compact description of a tool, where it has one, is enough.
    """
    shown = (tool for tool in tools if is_offered(tool, scopes) and is_in_place(tool, standing))
    compact = standing is not None and standing.is_initial
    return [
        {
            "name": tool.name,
            "title": tool.spec.title,
            "description": (compact and tool.spec.compact_description) or tool.spec.description,
            "input_schema": tool.spec.input_schema,
            "risk": tool.spec.risk,
        }
        for tool in sorted(shown, key=lambda tool: tool.name)
    ]


def is_offered(tool: PinnedTool, scopes: frozenset[str]) -> bool:
    """Whether a principal with these scopes may see and call the tool at all."""
    return tool.enabled and not tool.quarantined and allows(scopes, tool.spec.required_scope)


def is_in_place(tool: PinnedTool, standing: Standing | None) -> bool:
    """Whether the tool may be called where the run stands: a gated one nowhere but in its states."""
    return not tool.gated or (standing is not None and standing.way(tool.name) is not None)


def _found(sql: str, parameters: Sequence[Any]) -> list[PinnedTool]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows = cursor.fetchall()
    return assemble(rows)


def assemble(rows: Sequence[Sequence[Any]]) -> list[PinnedTool]:
    """Tools out of rows (version id, tool id, name, number, enabled, quarantined, schema hash, is current, gated) that
    the caller's own statement read; definitions come from the process's memory where it has them."""
    specs = _specs(current_tenant(), [row[0] for row in rows])
    return [
        PinnedTool(
            version_id=row[0],
            tool_id=row[1],
            name=row[2],
            number=row[3],
            spec=specs[row[0]],
            enabled=row[4],
            quarantined=row[5],
            schema_hash=row[6],
            current=row[7],
            gated=row[8],
        )
        for row in rows
    ]


def _specs(tenant_id: UUID, version_ids: Sequence[UUID]) -> Mapping[UUID, ToolSpec]:
    kept = {id_: spec for id_ in version_ids if (spec := _KEPT.get((tenant_id, id_))) is not None}
    missing = [id_ for id_ in version_ids if id_ not in kept]
    if missing:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id, spec FROM tools_toolversion WHERE tenant_id = %s AND id = ANY(%s)", [tenant_id, missing]
            )
            for id_, text in cursor.fetchall():
                kept[id_] = _keep(tenant_id, id_, text)
    return kept


_KEPT: dict[tuple[UUID, UUID], ToolSpec] = {}


def _keep(tenant_id: UUID, version_id: UUID, text: str) -> ToolSpec:
    spec = read_spec(text)
    while len(_KEPT) >= _KEPT_VERSIONS:
        _KEPT.pop(next(iter(_KEPT)), None)
    _KEPT[tenant_id, version_id] = spec
    return spec


@lru_cache(maxsize=256)
def read_spec(text: str) -> ToolSpec:
    """The definition out of its stored canonical text."""
    return ToolSpec.model_validate(parse(text))
