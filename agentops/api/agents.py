"""`/agents`: what may be started, and saving a new version of it."""

from http import HTTPStatus

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.documented import documented
from agentops.api.errors import InvalidBody, NotFound
from agentops.api.resource import Resource
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ, TOOLS_WRITE
from runs import queries
from runs.operations.configuring import install_agent


class Agents(Resource):
    """The agents of the tenant."""

    @documented(200, "Agents by name")
    def get(self, request: Request) -> HttpResponse:
        query.known_only(request)
        rows = [renderings.agent(a) for a in queries.agents(self.actor(RUNS_READ))]
        return answer({"results": rows, "next": None, "count": len(rows)})

    @documented(201, "The agent", body=shapes.SaveAgent)
    def post(self, request: Request) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        body = read_model(request, shapes.SaveAgent)
        if not body.slug:
            raise InvalidBody([{"pointer": "/slug", "detail": "A name for addresses is needed."}])
        return _saved(actor, body.slug, body, HTTPStatus.CREATED)


class OneAgent(Resource):
    """One agent."""

    @documented(200, "The agent")
    def get(self, request: Request, slug: str) -> HttpResponse:
        return answer(_shown(self.actor(RUNS_READ), slug))

    @documented(200, "The agent with its new version", body=shapes.SaveAgent)
    def patch(self, request: Request, slug: str) -> HttpResponse:
        actor = self.actor(TOOLS_WRITE)
        _shown(actor.reader(), slug)
        return _saved(actor, slug, read_model(request, shapes.SaveAgent), HTTPStatus.OK)


def _saved(actor: Actor, slug: str, body: shapes.SaveAgent, status: HTTPStatus) -> HttpResponse:
    install_agent(actor.tenant_id, **body.model_dump() | {"slug": slug})
    return answer(_shown(actor.reader(), slug), status)


def _shown(actor: Actor, slug: str) -> dict[str, object]:
    found = next((a for a in queries.agents(actor) if a.slug == slug), None)
    if found is None:
        raise NotFound
    return renderings.agent(found)
