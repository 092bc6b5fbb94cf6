"""`/tools`: the catalogue, registration, versions and dry runs."""

from http import HTTPStatus

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model, read_raw
from agentops.api.documented import documented
from agentops.api.errors import InvalidBody
from agentops.api.resource import Resource
from agentops.tenancy.scopes import TOOLS_READ, TOOLS_WRITE
from tools import operations, queries
from tools.domain.canonical import Json, parse
from tools.dry_run import dry_run


class Tools(Resource):
    """The tools of the tenant."""

    @documented(200, "Tools by name", query=("search", "risk", "kind", "after"))
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request, "search", "risk", "kind", "after")
        with self.reading(actor):
            page = queries.list_tools(
                actor.tenant_id,
                search=query.word(request, "search") or "",
                risk=query.word(request, "risk") or "",
                kind=query.word(request, "kind") or "",
                after=query.word(request, "after") or "",
                limit=200,
            )
            count = queries.count_tools(actor.tenant_id)
        following = request.build_absolute_uri(f"{request.path}?after={page.next}") if page.next else None
        return answer({"results": [renderings.tool(t) for t in page.rows], "next": following, "count": count})

    @documented(201, "The tool with its first version")
    def post(self, request: Request) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        version = operations.register_tool(actor, _definition(request))
        with self.reading(actor):
            row = queries.find_tool(actor.tenant_id, parse_name(version.spec))
        return answer(renderings.tool(row), HTTPStatus.CREATED)


class OneTool(Resource):
    """One tool."""

    @documented(200, "The tool")
    def get(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        with self.reading(actor):
            return answer(renderings.tool(queries.find_tool(actor.tenant_id, name)))

    @documented(200, "The tool with its new current version, or enabled or disabled")
    def patch(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        with self.reading(actor):
            before = queries.find_tool(actor.tenant_id, name)
        changes = _definition(request)
        enabled = changes.pop("enabled", None)
        if changes:
            operations.update_tool(actor, name, {**before.spec.model_dump(mode="python"), **changes})
        if isinstance(enabled, bool):
            operations.set_enabled(actor, name, enabled=enabled)
        elif enabled is not None:
            raise InvalidBody([{"pointer": "/enabled", "detail": "true or false."}])
        with self.reading(actor):
            return answer(renderings.tool(queries.find_tool(actor.tenant_id, name)))


class Versions(Resource):
    """The immutable versions of a tool."""

    @documented(200, "Versions, newest first")
    def get(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        with self.reading(actor):
            rows = [renderings.tool_version(v) for v in queries.list_versions(actor.tenant_id, name, limit=200)]
        return answer({"results": rows, "next": None, "count": len(rows)})


class DryRun(Resource):
    """Tries a tool: a read for real, anything else only as far as the request that would be sent."""

    @documented(200, "What came back, or what would be sent", body=shapes.DryRunArgs)
    def post(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        body = read_model(request, shapes.DryRunArgs, optional=True)
        return answer(renderings.dry_run(dry_run(actor, name, body.args)))


def parse_name(spec: str) -> str:
    """The name in a stored definition."""
    definition = parse(spec)
    return str(definition["name"]) if isinstance(definition, dict) else ""


def _definition(request: Request) -> dict[str, Json]:
    value = parse(read_raw(request))
    if not isinstance(value, dict):
        raise InvalidBody([{"pointer": "", "detail": "A JSON object is needed here."}])
    return value
