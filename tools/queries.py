"""Tools as doors show them, read inside an open tenant transaction."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, Q, QuerySet

from tools.domain.errors import ToolNotFound
from tools.domain.spec import ToolSpec
from tools.models import Credential, Tool, ToolVersion
from tools.registry import read_spec

MAX_PAGE = 200

type UsedBy = Callable[[UUID, Sequence[str]], Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool with its current definition; `used_by` names the agents that list it."""

    id: UUID
    name: str
    number: int
    version_id: UUID
    spec: ToolSpec
    enabled: bool
    quarantined: bool
    revision: int
    updated_at: dt.datetime
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Rows by name, the name after which the next page starts (null: there is none), and how many match in all."""

    rows: tuple[ToolRow, ...]
    next: str | None
    count: int


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a tool, newest first in lists."""

    id: UUID
    number: int
    content_hash: str
    schema_hash: str
    spec: ToolSpec
    created_by: str
    created_at: dt.datetime
    current: bool


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """What may be shown of a credential: never its secret."""

    name: str
    destination: str
    created_by: str
    updated_at: dt.datetime


def list_tools(
    tenant_id: UUID,
    *,
    search: str = "",
    risk: str = "",
    kind: str = "",
    enabled: bool | None = None,
    after: str = "",
    limit: int = 50,
    used_by: UsedBy | None = None,
) -> ToolPage:
    """A page of tools by name. `search` looks at names and definitions; `used_by` is given by the engine."""
    size = max(1, min(limit, MAX_PAGE))
    tools = _filtered(tenant_id, search=search, risk=risk, kind=kind, enabled=enabled)
    found = list(tools.filter(name__gt=after).select_related("current").order_by("name")[: size + 1])
    page = found[:size]
    users = used_by(tenant_id, [tool.name for tool in page]) if used_by else {}
    rows = tuple(_row(tool, users.get(tool.name, ())) for tool in page)
    return ToolPage(rows, page[-1].name if len(found) > size else None, tools.count())


def find_tool(tenant_id: UUID, name: str, *, used_by: UsedBy | None = None) -> ToolRow:
    """One tool. Raises ToolNotFound."""
    tool = Tool.objects.filter(tenant_id=tenant_id, current__isnull=False, name=name).select_related("current").first()
    if tool is None:
        raise ToolNotFound
    return _row(tool, used_by(tenant_id, [name]).get(name, ()) if used_by else ())


def list_versions(tenant_id: UUID, name: str, *, before: int | None = None, limit: int = 50) -> list[VersionRow]:
    """The versions of a tool, newest first, those below number `before`. Raises ToolNotFound."""
    tool = Tool.objects.filter(tenant_id=tenant_id, name=name).first()
    if tool is None:
        raise ToolNotFound
    versions = ToolVersion.objects.filter(tenant_id=tenant_id, tool=tool).order_by("-number")
    if before is not None:
        versions = versions.filter(number__lt=before)
    return [_version(version, tool.current_id) for version in versions[: max(1, min(limit, MAX_PAGE))]]


def list_credentials(tenant_id: UUID) -> list[CredentialRow]:
    """Every credential by name, without its secret."""
    rows = Credential.objects.filter(tenant_id=tenant_id).order_by("name")
    return [CredentialRow(row.name, row.destination, row.created_by, row.updated_at) for row in rows]


def names_of_all(tenant_id: UUID) -> list[str]:
    """Every tool's name, for choices."""
    return list(Tool.objects.filter(tenant_id=tenant_id).order_by(F("name")).values_list("name", flat=True))


def _filtered(tenant_id: UUID, *, search: str, risk: str, kind: str, enabled: bool | None) -> QuerySet[Tool]:
    tools = Tool.objects.filter(tenant_id=tenant_id, current__isnull=False)
    if search:
        tools = tools.filter(Q(name__icontains=search) | Q(current__spec__icontains=search))
    for part, value in (("risk", risk), ("kind", kind)):
        if value:
            tools = tools.filter(current__spec__contains=f'"{part}":"{value}"')
    return tools if enabled is None else tools.filter(enabled=enabled)


def _row(tool: Tool, used_by: Sequence[str]) -> ToolRow:
    version = tool.current
    if version is None:
        raise ToolNotFound
    return ToolRow(
        id=tool.id,
        name=tool.name,
        number=version.number,
        version_id=version.id,
        spec=read_spec(version.spec),
        enabled=tool.enabled,
        quarantined=tool.quarantined,
        revision=tool.revision,
        updated_at=tool.updated_at,
        used_by=tuple(used_by),
    )


def _version(version: ToolVersion, current_id: UUID | None) -> VersionRow:
    return VersionRow(
        id=version.id,
        number=version.number,
        content_hash=version.content_hash,
        schema_hash=version.schema_hash,
        spec=read_spec(version.spec),
        created_by=version.created_by,
        created_at=version.created_at,
        current=version.id == current_id,
    )
