"""Workflows over REST: made, refused with places, changed into versions, and stood in by runs."""

from typing import Any

from agentops.tenancy.models import Change
from agentops.tenancy.transaction import tenant_transaction
from tests.api.conftest import Caller
from tests.runs.gates import INVOICE, TOOLS, new_gate
from tests.runs.scenario import Stage
from tools.operations import install_code_tools


def test_a_workflow_is_made_changed_and_keeps_its_versions(stage: Stage, service: Caller) -> None:
    install_code_tools(stage.tenant_id, TOOLS)
    made = service.post("/workflows", INVOICE)
    assert made.status_code == 201, made.content
    assert (made.json()["version"], made.json()["state_handle_key"]) == (1, "run")
    assert service.post("/workflows", INVOICE).json()["code"] == "workflow_name_taken"
    changed = service.patch("/workflows/invoice", {"description": "How we pay.", "version": 1})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert changed.json()["machine"] == INVOICE["machine"]
    assert service.patch("/workflows/invoice", {"description": "", "version": 1}).json()["code"] == "workflow_changed"
    assert [v["version"] for v in service.get("/workflows/invoice/versions").json()["results"]] == [2, 1]
    assert [w["name"] for w in service.get("/workflows").json()["results"]] == ["invoice"]
    with tenant_transaction(stage.tenant_id):
        assert Change.objects.filter(kind="workflow.saved").count() == 2


def test_what_cannot_be_run_is_refused_by_name_and_place(stage: Stage, service: Caller) -> None:
    install_code_tools(stage.tenant_id, TOOLS)
    machine = {"initial": "draft", "states": {"draft": {"on": {"GO": {"target": "end", "guard": "rich"}}, "after": {}},
                                              "end": {"type": "final"}}}  # fmt: skip
    bindings = [{"tool": "invoice_submit", "states": ["start"], "transition": "GO"}]
    body = service.post("/workflows", {"name": "w", "machine": machine, "bindings": bindings}).json()
    assert body["code"] == "invalid_workflow"
    assert [e["pointer"] for e in body["errors"]] == [
        "/machine/states/draft/after",
        "/machine/states/draft/on/GO/guard",
        "/bindings/0/states/0",
    ]
    unknown = {**INVOICE, "bindings": [{"tool": "no_such_tool", "states": ["draft"]}]}
    (fault,) = service.post("/workflows", unknown).json()["errors"]
    assert fault == {"pointer": "/bindings/0/tool", "detail": "There is no tool named no_such_tool."}


def test_a_run_stands_in_a_workflow_and_shares_its_handle(stage: Stage, service: Caller) -> None:
    gate = new_gate(stage)
    body = {"agent": "gated", "task": "Pay", "workflow": {"name": "invoice", "handle": gate.handle}}
    first, second = service.post("/runs", body).json(), service.post("/runs", body).json()
    told = {"name": "invoice", "handle": gate.handle, "state": "draft", "revision": 1}
    assert first["workflow"] == second["workflow"] == told
    assert _propose(service, first["id"], gate.invoice, "invoice_discharge")["refusal"]["state"] == "draft"
    _propose(service, first["id"], gate.invoice, "invoice_submit")
    stage.work(first["id"])
    assert service.get(f"/runs/{second['id']}").json()["workflow"]["state"] == "review"
    (at,) = service.get("/workflows/invoice/instances?state=review").json()["results"]
    assert (at["handle"], at["revision"], at["busy"]) == (gate.handle, 2, False)
    assert service.get("/workflows/invoice").json()["standing"] == {"review": 1}


def test_a_start_names_a_workflow_that_is_there(stage: Stage, service: Caller, mallory: Caller) -> None:
    new_gate(stage)
    body: dict[str, Any] = {"agent": "gated", "task": "Pay", "workflow": {"name": "nothing", "handle": "h"}}
    problem = service.post("/runs", body).json()
    assert (problem["code"], problem["errors"][0]["pointer"]) == ("unknown_workflow", "/workflow/name")
    assert mallory.get("/workflows/invoice").status_code == 404
    assert mallory.get("/workflows").json()["results"] == []


def _propose(service: Caller, run_id: str, invoice: str, name: str) -> Any:
    proposal = {"kind": "tool", "tool": name, "args": {"invoice": invoice}}
    (step,) = service.post(f"/runs/{run_id}/proposals", {"proposals": [proposal]}).json()["steps"]
    return step
