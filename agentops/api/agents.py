"""`/agents`: what may be started, new ones, and new versions."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.catalogue_documents import AgentDocument, AgentList
from agentops.api.documented import documented
from agentops.api.errors import NotFound
from agentops.api.resource import Resource
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ, TOOLS_WRITE
from runs import queries
from runs.operations import configuring


class Agents(Resource):
    """The agents of the tenant."""

    @documented(200, "Agents by name", shows=AgentList)
    def get(self, request: Request) -> HttpResponse:
        query.known_only(request)
        rows = [renderings.agent(a) for a in queries.agents(self.actor(RUNS_READ)) if a.current]
        return answer({"results": rows, "next": None, "count": len(rows)})

    @documented(201, "The agent", shows=AgentDocument, body=shapes.DefineAgent)
    def post(self, request: Request) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.DefineAgent)
        configuring.create_agent(actor, **body.model_dump(exclude_unset=True))
        return answer(_shown(actor.reader(), body.slug), HTTPStatus.CREATED)


class OneAgent(Resource):
    """One agent."""

    @documented(200, "The agent", shows=AgentDocument)
    def get(self, request: Request, slug: str) -> HttpResponse:
        return answer(_shown(self.actor(RUNS_READ), slug))

    @documented(200, "The agent with its new version, or switched", shows=AgentDocument, body=shapes.ChangeAgent)
    def patch(self, request: Request, slug: str) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.ChangeAgent)
        changes = body.model_dump(exclude_none=True, exclude={"enabled"})
        configuring.update_agent(actor, slug, enabled=body.enabled, **changes)
        return answer(_shown(actor.reader(), slug))


def _shown(actor: Actor, slug: str) -> dict[str, Any]:
    found = next((a for a in queries.agents(actor) if a.slug == slug and a.current), None)
    if found is None:
        raise NotFound
    return renderings.agent(found)
