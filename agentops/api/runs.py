"""`/runs`: start, list, read, cancel."""

from http import HTTPStatus

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.documented import documented
from agentops.api.documents import RunDocument
from agentops.api.lists import RunList
from agentops.api.pagination import asked_page, page_of
from agentops.api.resource import Resource, row_id
from agentops.tenancy.scopes import RUNS_READ, RUNS_WRITE
from runs import queries
from runs.domain.run import RunStatus
from runs.operations.cancelling import cancel
from runs.operations.starting import start_run

_STATUSES = frozenset(s.value for s in RunStatus)


class Runs(Resource):
    """The runs of the tenant."""

    @documented(
        200,
        "A page of runs, newest first",
        shows=RunList,
        query=("agent", "created_after", "cursor", "limit"),
        words={"status": sorted(_STATUSES)},
    )
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(RUNS_READ)
        query.known_only(request, "status", "agent", "created_after")
        page = asked_page(request, actor)
        found = queries.runs(
            actor,
            status=query.word(request, "status", _STATUSES),
            agent=query.word(request, "agent"),
            created_after=query.moment(request, "created_after"),
            after=page.after_row,
            size=page.size,
        )
        return answer(page_of(request, actor, [renderings.run(v) for v in found.rows], found.after, found.count))

    @documented(
        201,
        "The run that was started; 200 when the same request was made before",
        shows=RunDocument,
        body=shapes.StartRun,
        once=True,
    )
    def post(self, request: Request) -> HttpResponse:
        actor = self.actor(RUNS_WRITE)
        body = read_model(request, shapes.StartRun)
        started = start_run(
            actor,
            agent=body.agent,
            task=body.task,
            given=body.input,
            budget=body.budget,
            on_behalf_of=body.on_behalf_of,
            workflow=(body.workflow.name, body.workflow.handle) if body.workflow else None,
            key=query.idempotency_key(request),
            traceparent=request.headers.get("traceparent", ""),
        )
        view = queries.run(actor.reader(), started.run_id)
        return answer(renderings.run(view), HTTPStatus.CREATED if started.created else HTTPStatus.OK)


class OneRun(Resource):
    """One run."""

    @documented(200, "The run", shows=RunDocument)
    def get(self, request: Request, run_id: str) -> HttpResponse:
        return answer(renderings.run(queries.run(self.actor(RUNS_READ), row_id(run_id))))


class CancelRun(Resource):
    """The end of a run by its user."""

    @documented(202, "The run, cancelled or being cancelled", shows=RunDocument, body=shapes.Reason)
    def post(self, request: Request, run_id: str) -> HttpResponse:
        actor = self.actor(RUNS_WRITE)
        body = read_model(request, shapes.Reason, optional=True)
        cancel(actor, row_id(run_id), reason=body.reason)
        return answer(renderings.run(queries.run(actor.reader(), row_id(run_id))), HTTPStatus.ACCEPTED)
