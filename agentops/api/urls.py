"""The addresses under `/api/v1`; whatever else is under `/api/` is a problem document too."""

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from agentops.api import agents, approvals, audit, docs, events, proposals, runs, steps, tools, workflows
from agentops.api.answers import problem
from agentops.api.errors import NotFound


@csrf_exempt
def nothing_here(_: HttpRequest, **__: str) -> HttpResponse:
    """There is no such address."""
    return problem(NotFound())


urlpatterns = [
    path("v1/runs", runs.Runs.as_view()),
    path("v1/runs/<str:run_id>", runs.OneRun.as_view()),
    path("v1/runs/<str:run_id>/cancel", runs.CancelRun.as_view()),
    path("v1/runs/<str:run_id>/export", audit.ExportRun.as_view()),
    path("v1/runs/<str:run_id>/steps", steps.Steps.as_view()),
    path("v1/runs/<str:run_id>/events", events.Events.as_view()),
    path("v1/runs/<str:run_id>/proposals", proposals.Proposals.as_view()),
    path("v1/steps/<str:step_id>/reconcile", steps.ReconcileStep.as_view()),
    path("v1/approvals", approvals.Approvals.as_view()),
    path("v1/approvals/<str:approval_id>", approvals.OneApproval.as_view()),
    path("v1/approvals/<str:approval_id>/decisions", approvals.Decisions.as_view()),
    path("v1/approvals/<str:approval_id>/recheck", approvals.Recheck.as_view()),
    path("v1/tools", tools.Tools.as_view()),
    path("v1/tools/<str:name>", tools.OneTool.as_view()),
    path("v1/tools/<str:name>/versions", tools.Versions.as_view()),
    path("v1/tools/<str:name>/dry-run", tools.DryRun.as_view()),
    path("v1/workflows", workflows.Workflows.as_view()),
    path("v1/workflows/<str:name>", workflows.OneWorkflow.as_view()),
    path("v1/workflows/<str:name>/versions", workflows.Versions.as_view()),
    path("v1/workflows/<str:name>/instances", workflows.Instances.as_view()),
    path("v1/agents", agents.Agents.as_view()),
    path("v1/agents/<str:slug>", agents.OneAgent.as_view()),
    path("v1/audit/verify", audit.Verify.as_view()),
    path("v1/audit/key", audit.Key.as_view()),
    path("v1/schema", docs.schema, name="api-schema"),
    path("v1/docs", docs.pages, name="api-docs"),
    re_path(r"^(?P<anything>.*)$", nothing_here),
]
