"""`/runs/{id}/steps` and `/steps/{id}/reconcile`."""

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.documented import documented
from agentops.api.documents import StepDocument
from agentops.api.lists import StepList
from agentops.api.resource import Resource, row_id
from agentops.tenancy.scopes import RUNS_READ, RUNS_WRITE
from runs import queries
from runs.operations.reconciling import reconcile


class Steps(Resource):
    """The steps of a run."""

    @documented(200, "Every step in order", shows=StepList)
    def get(self, request: Request, run_id: str) -> HttpResponse:
        query.known_only(request)
        rows = [renderings.step(v) for v in queries.steps(self.actor(RUNS_READ), row_id(run_id))]
        return answer({"results": rows, "next": None, "count": len(rows)})


class ReconcileStep(Resource):
    """What an unknown call really did."""

    @documented(
        200,
        "The step, settled; 202 and still unknown while a second person must say the same",
        shows=StepDocument,
        body=shapes.Reconcile,
    )
    def post(self, request: Request, step_id: str) -> HttpResponse:
        actor = self.actor(RUNS_WRITE)
        body = read_model(request, shapes.Reconcile)
        succeeded = body.outcome == "succeeded"
        done = reconcile(actor, row_id(step_id), succeeded=succeeded, evidence=body.evidence, result=body.result)
        status = 200 if done.settled else 202
        return answer(renderings.step(queries.step(actor.reader(), row_id(step_id))), status)
