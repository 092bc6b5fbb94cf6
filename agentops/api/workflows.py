"""`/workflows`: state machines and the tools bound to their states, their versions, and where handles stand."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, shapes, workflow_documents
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.documented import documented
from agentops.api.pagination import asked_page, page_of
from agentops.api.resource import Resource, row_name
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import TOOLS_READ, TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from tools import workflow_changes, workflow_queries


class Workflows(Resource):
    """The workflows of the tenant."""

    @documented(200, "A page of workflows by name", shows=workflow_documents.WorkflowList, query=("cursor", "limit"))
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request)
        asked = asked_page(request, actor)
        with self.reading(actor):
            after = asked.after[0] if asked.after else ""
            page = workflow_queries.list_workflows(actor.tenant_id, after=after, limit=asked.size)
        rows = [workflow_documents.workflow(row) for row in page.rows]
        return answer(page_of(request, actor, rows, page.next and [page.next], page.count))

    @documented(
        201,
        "The workflow with its first version",
        shows=workflow_documents.WorkflowDocument,
        body=shapes.DefineWorkflow,
    )
    def post(self, request: Request) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.DefineWorkflow)
        workflow_changes.create_workflow(actor, body.model_dump(exclude_unset=True))
        return answer(_shown(actor, body.name), HTTPStatus.CREATED)


class OneWorkflow(Resource):
    """One workflow."""

    @documented(200, "The workflow", shows=workflow_documents.WorkflowDocument)
    def get(self, request: Request, name: str) -> HttpResponse:
        return answer(_shown(self.actor(TOOLS_READ), row_name(name)))

    @documented(
        200, "The workflow with its new version", shows=workflow_documents.WorkflowDocument, body=shapes.ChangeWorkflow
    )
    def patch(self, request: Request, name: str) -> HttpResponse:
        actor, body = self.actor(TOOLS_WRITE), read_model(request, shapes.ChangeWorkflow)
        changes = body.model_dump(exclude_unset=True, exclude={"version"})
        workflow_changes.update_workflow(actor, row_name(name), changes, version=body.version)
        return answer(_shown(actor, name))


class Versions(Resource):
    """The immutable versions of a workflow."""

    @documented(
        200,
        "A page of versions, newest first",
        shows=workflow_documents.WorkflowVersionList,
        query=("cursor", "limit"),
    )
    def get(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request)
        asked = asked_page(request, actor)
        with self.reading(actor):
            before = int(asked.after[0]) if asked.after else None
            rows = workflow_queries.list_workflow_versions(
                actor.tenant_id, row_name(name), before=before, limit=asked.size
            )
            # Numbers have no gaps: the newest one is the count.
            count = workflow_queries.list_workflow_versions(actor.tenant_id, name, limit=1)[0].number
        more = [rows[-1].number] if rows and rows[-1].number > 1 else None
        return answer(page_of(request, actor, [workflow_documents.version(row) for row in rows], more, count))


class Instances(Resource):
    """Where the handles of a workflow stand."""

    @documented(
        200,
        "A page of handles in their order",
        shows=workflow_documents.InstanceList,
        query=("state", "cursor", "limit"),
    )
    def get(self, request: Request, name: str) -> HttpResponse:
        actor = self.actor(TOOLS_READ)
        query.known_only(request, "state")
        asked = asked_page(request, actor)
        with self.reading(actor):
            page = workflow_queries.list_handles(
                actor.tenant_id,
                row_name(name),
                state=query.word(request, "state") or "",
                after=asked.after[0] if asked.after else "",
                limit=asked.size,
            )
        rows = [workflow_documents.instance(row) for row in page.rows]
        return answer(page_of(request, actor, rows, page.next and [page.next], page.count))


def _shown(actor: Actor, name: str) -> dict[str, Any]:
    with tenant_transaction(actor.tenant_id):
        return workflow_documents.workflow(workflow_queries.find_workflow(actor.tenant_id, name))
