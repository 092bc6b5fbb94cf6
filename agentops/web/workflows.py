"""Workflows: the list, and one drawn with its tools on its states and where its handles stand."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import TOOLS_READ
from agentops.tenancy.transaction import tenant_transaction
from agentops.web.graph import Box, draw
from agentops.web.member import MemberRequest, member, show
from agentops.web.paging import next_page
from tools.domain.statechart import leaves
from tools.domain.workflow import Binding, WorkflowSpec
from tools.workflow_queries import find_workflow, list_handles, list_workflow_versions, list_workflows


@require_safe
@member
def workflows_page(request: MemberRequest) -> HttpResponse:
    """Every workflow by name."""
    require_scope(request.actor, TOOLS_READ)
    after = _word(request.GET, "after")
    with tenant_transaction(request.actor.tenant_id):
        page = list_workflows(request.actor.tenant_id, after=after)
    context = {"page": page, "more": next_page(request.GET, page.next)}
    return show(request, "workflows/list.html", context, parts={"rows"})


@require_safe
@member
def workflow_page(request: MemberRequest, name: str) -> HttpResponse:
    """One workflow."""
    require_scope(request.actor, TOOLS_READ)
    return show(request, "workflows/workflow.html", _workflow(request.actor, name, request.GET), parts={"standing"})


@dataclass(frozen=True)
class _StateRow:
    path: str
    kind: str
    description: str
    is_initial: bool
    bindings: list[Binding]
    handles: int


def _workflow(actor: Actor, name: str, asked: QueryDict) -> dict[str, Any]:
    state, after = _word(asked, "state"), _word(asked, "after")
    with tenant_transaction(actor.tenant_id):
        workflow = find_workflow(actor.tenant_id, name)
        page = list_handles(actor.tenant_id, name, state=state, after=after)
        versions = list_workflow_versions(actor.tenant_id, name)
    graph = draw(workflow.spec, handles=workflow.standing)
    return {
        "workflow": workflow,
        "spec": workflow.spec,
        "graph": graph,
        "states": [_state(workflow.spec, box) for box in graph.boxes],
        "anywhere": list(workflow.spec.chart.root.on.items()),
        "state": state,
        "page": page,
        "more": next_page(asked, page.next),
        "versions": versions,
    }


def _state(spec: WorkflowSpec, box: Box) -> _StateRow:
    state, path = spec.chart.states[box.path], box.path
    return _StateRow(
        path=path,
        kind=state.kind,
        description=state.description,
        is_initial=path in leaves(spec.initial),
        bindings=[binding for binding in spec.bindings if path in binding.states],
        handles=box.handles,
    )


def _word(asked: QueryDict, name: str) -> str:
    text = asked.get(name, "")
    if "\0" in text:
        raise BadRequest("unusable filter")
    return text
