"""The admin pages of workflows, as staff use them."""

import json
from typing import Any

import pytest
from django.test import Client

from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast
from tests.runs.gates import BINDINGS, MACHINE, TOOLS
from tools.models import Workflow, WorkflowVersion
from tools.operations import install_code_tools

ADD = "/admin/tools/workflow/add/"


@pytest.fixture
def carol(cast: Cast) -> Client:
    install_code_tools(cast.tenant.id, TOOLS)
    return cast.carol.signed_in()


def _filled(**changes: Any) -> dict[str, Any]:
    form = {"name": "invoice", "machine": json.dumps(MACHINE), "bindings": json.dumps(BINDINGS),
            "state_handle_key": "run"}  # fmt: skip
    return {**form, **changes}


def test_a_workflow_is_made_changed_and_keeps_its_versions(cast: Cast, carol: Client) -> None:
    added = carol.post(ADD, _filled())
    assert added.status_code == 302, added.content.decode()
    with tenant_transaction(cast.tenant.id):
        workflow = Workflow.objects.select_related("current").get(name="invoice")
    assert workflow.current is not None
    assert workflow.current.created_by == cast.carol.user.email
    address = f"/admin/tools/workflow/{workflow.id}/change/"
    page = carol.get(address).content.decode()
    assert "&quot;SUBMIT&quot;: &quot;review&quot;" in page
    assert carol.post(address, _filled(description="How we pay.", version=1)).status_code == 302
    late = carol.post(address, _filled(description="Or else.", version=1)).content.decode()
    assert "The workflow was changed by somebody else since it was read." in late
    assert "<b>v2</b>" in carol.get(address).content.decode()
    listed = carol.get("/admin/tools/workflow/?q=invoice").content.decode()
    assert "invoice_discharge" in listed
    with tenant_transaction(cast.tenant.id):
        assert WorkflowVersion.objects.filter(workflow=workflow).count() == 2


def test_what_is_wrong_is_said_at_its_field_with_its_place(cast: Cast, carol: Client) -> None:
    machine = {**MACHINE, "states": {**MACHINE["states"], "review": {"on": {"APPROVE": "paid"}}}}
    bindings = [{"tool": "no_such_tool", "states": ["draft"]}]
    page = carol.post(ADD, _filled(machine=json.dumps(machine), bindings=json.dumps(bindings))).content.decode()
    assert "/states/review/on/APPROVE: There is no state" in page
    page = carol.post(ADD, _filled(bindings=json.dumps(bindings))).content.decode()
    assert "/0/tool: There is no tool named no_such_tool." in page
    with tenant_transaction(cast.tenant.id):
        assert not Workflow.objects.exists()


def test_only_staff_of_the_team_reach_them(cast: Cast, carol: Client) -> None:
    carol.post(ADD, _filled())
    with tenant_transaction(cast.tenant.id):
        workflow = Workflow.objects.get(name="invoice")
    address = f"/admin/tools/workflow/{workflow.id}/change/"
    assert cast.bob.signed_in().get(ADD).headers["Location"] == f"/admin/login/?next={ADD}"
    assert cast.mallory.signed_in().get(address).headers["Location"] == "/admin/"
