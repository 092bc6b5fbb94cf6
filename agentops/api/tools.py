"""`/tools`: the catalogue, registration, versions and dry runs."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.catalogue_documents import DryRunDocument, ToolDocument, ToolList, ToolVersionList
from agentops.api.documented import documented
from agentops.api.pagination import asked_page, page_of
from agentops.api.resource import Resource, row_name
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import TOOLS_READ, TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from tools import operations, queries
from tools.dry_run import dry_run

_RISKS = frozenset({"read", "write", "destructive"})
_KINDS = frozenset({"python", "http", "command", "mcp"})


class Tools(Resource):
    """The tools of the tenant."""

    @documented(
        200,
        "A page of tools by name",
        shows=ToolList,
        query=("search", "enabled", "cursor", "limit"),
        words={"risk": sorted(_RISKS), "kind": sorted(_KINDS)},
    )
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request, "search", "risk", "kind", "enabled")
        asked = asked_page(request, actor)
        with self.reading(actor):
            page = queries.list_tools(
                actor.tenant_id,
                search=query.word(request, "search") or "",
                risk=query.word(request, "risk", _RISKS) or "",
                kind=query.word(request, "kind", _KINDS) or "",
                enabled=query.boolean(request, "enabled"),
                after=asked.after[0] if asked.after else "",
                limit=asked.size,
            )
        rows = [renderings.tool(row) for row in page.rows]
        return answer(page_of(request, actor, rows, page.next and [page.next], page.count))

    @documented(201, "The tool with its first version", shows=ToolDocument, body=shapes.DefineTool)
    def post(self, request: Request) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.DefineTool)
        operations.register_tool(actor, body.model_dump(exclude_unset=True))
        return answer(_shown(actor, body.name), HTTPStatus.CREATED)


class OneTool(Resource):
    """One tool."""

    @documented(200, "The tool", shows=ToolDocument)
    def get(self, request: Request, name: str) -> HttpResponse:
        return answer(_shown(self.actor(TOOLS_READ), row_name(name)))

    @documented(
        200, "The tool with its new version, or enabled or disabled", shows=ToolDocument, body=shapes.ChangeTool
    )
    def patch(self, request: Request, name: str) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.ChangeTool)
        before, revision = _found(actor, row_name(name)), body.revision
        if body.model_extra:
            definition = {**before.spec.model_dump(mode="python"), **body.model_extra}
            operations.update_tool(actor, name, definition, revision=revision)
            revision = None
        if body.enabled is not None:
            operations.set_enabled(actor, name, enabled=body.enabled, revision=revision)
        return answer(_shown(actor, name))


class Versions(Resource):
    """The immutable versions of a tool."""

    @documented(200, "A page of versions, newest first", shows=ToolVersionList, query=("cursor", "limit"))
    def get(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request)
        asked = asked_page(request, actor)
        with self.reading(actor):
            before = int(asked.after[0]) if asked.after else None
            rows = queries.list_versions(actor.tenant_id, row_name(name), before=before, limit=asked.size)
            # Numbers have no gaps: the newest one is the count.
            count = queries.list_versions(actor.tenant_id, name, limit=1)[0].number
        more = [rows[-1].number] if rows and rows[-1].number > 1 else None
        return answer(page_of(request, actor, [renderings.tool_version(row) for row in rows], more, count))


class DryRun(Resource):
    """Tries a tool: a read for real, anything else only as far as the request that would be sent."""

    @documented(200, "What came back, or what would be sent", shows=DryRunDocument, body=shapes.DryRunArgs)
    def post(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        body = read_model(request, shapes.DryRunArgs, optional=True)
        return answer(renderings.dry_run(dry_run(actor, row_name(name), body.args)))


def _found(actor: Actor, name: str) -> queries.ToolRow:
    with tenant_transaction(actor.tenant_id):
        return queries.find_tool(actor.tenant_id, name)


def _shown(actor: Actor, name: str) -> dict[str, Any]:
    return renderings.tool(_found(actor, name))
