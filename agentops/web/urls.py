"""The addresses of the pages: nouns, as a person reads them."""

from django.urls import include, path
from django.views.generic import RedirectView, TemplateView

from agentops.web.agents import agent_revocation, agents
from agentops.web.decide import decisions
from agentops.web.inbox import inbox, inbox_count
from agentops.web.keys import key_revocation, keys
from agentops.web.log import events_page, export
from agentops.web.model_call import model_call_page
from agentops.web.people import settings_page
from agentops.web.reconcile import reconciliation
from agentops.web.request import checks, request_page
from agentops.web.run import cancellation, run_page
from agentops.web.runs import runs_page
from agentops.web.session import preference, tenant
from agentops.web.start import start
from agentops.web.tools import tool_page, tools_page
from agentops.web.values import input_values, request_values, step_values
from agentops.web.workflows import workflow_page, workflows_page

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="inbox", query_string=True), name="home"),
    path("inbox", inbox, name="inbox"),
    path("inbox/count", inbox_count, name="inbox-count"),
    path("approvals/<uuid:request_id>", request_page, name="request"),
    path("approvals/<uuid:request_id>/decisions", decisions, name="decisions"),
    path("approvals/<uuid:request_id>/checks", checks, name="checks"),
    path("approvals/<uuid:request_id>/values", request_values, name="request-values"),
    path("runs", runs_page, name="runs"),
    path("runs/start", start, name="start"),
    path("runs/<uuid:run_id>", run_page, name="run"),
    path("runs/<uuid:run_id>/model/<int:number>", model_call_page, name="model-call"),
    path("runs/<uuid:run_id>/input", input_values, name="input-values"),
    path("runs/<uuid:run_id>/events", events_page, name="events"),
    path("runs/<uuid:run_id>/export", export, name="export"),
    path("runs/<uuid:run_id>/cancellation", cancellation, name="cancellation"),
    path("steps/<uuid:step_id>/values", step_values, name="step-values"),
    path("steps/<uuid:step_id>/reconciliation", reconciliation, name="reconcile"),
    path("tools", tools_page, name="tools"),
    path("tools/<slug:name>", tool_page, name="tool"),
    path("workflows", workflows_page, name="workflows"),
    path("workflows/<slug:name>", workflow_page, name="workflow"),
    path("settings", settings_page, name="settings"),
    path("settings/keys", keys, name="keys"),
    path("settings/keys/<uuid:key_id>/revocation", key_revocation, name="key-revocation"),
    path("settings/agents", agents, name="agents"),
    path("settings/agents/<uuid:key_id>/revocation", agent_revocation, name="agent-revocation"),
    path("session/tenant", tenant, name="tenant"),
    path("session/preference", preference, name="preference"),
    path(
        "account/password/reset/",
        TemplateView.as_view(template_name="account/password_reset.html"),
        name="account_reset_password",
    ),
    path("account/", include("allauth.account.urls")),
]
