"""When a handle moves and when it does not: failures, unknown outcomes, calls in flight, approvals that came late."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs import execution
from runs.models import Attempt
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.operations.reconciling import reconcile
from runs.operations.settling import Settled
from tests.runs.gates import BINDINGS, INVOICE, MACHINE, Gate, new_gate
from tests.runs.scenario import Stage
from tests.runs.threads import working
from tools.domain.errors import InvalidWorkflow
from tools.domain.outcome import ToolError
from tools.workflow_changes import install_workflow
from tools.workflow_stores import store_of


@pytest.fixture
def gate(stage: Stage) -> Gate:
    return new_gate(stage)


def _without_review() -> dict[str, Any]:
    states = {name: state for name, state in MACHINE["states"].items() if name != "review"}
    machine = {**MACHINE, "states": {**states, "draft": {"on": {"SUBMIT": "approved"}}}}
    return {**INVOICE, "machine": machine, "bindings": [BINDINGS[0], BINDINGS[3]]}


def test_a_definite_failure_moves_nothing_and_lets_the_next_call_pass(gate: Gate) -> None:
    run_id = gate.run()
    gate.office.fault = ToolError("closed", "The office is closed.")
    assert gate.call(run_id, "invoice_submit").status == "failed"
    assert (gate.where(), gate.row().taken_by) == (("draft", 1), None)
    gate.office.fault = None
    assert gate.call(run_id, "invoice_submit").status == "succeeded"
    assert gate.where() == ("review", 2)


def test_an_unknown_outcome_fires_nothing_and_lets_nobody_pass_until_it_is_reconciled(gate: Gate) -> None:
    run_id = gate.at("approved")
    gate.office.fault = RuntimeError("the line broke")
    lost = gate.approved(run_id, "invoice_discharge")
    assert (lost.status, gate.where()) == ("unknown", ("approved", 3))
    gate.office.fault = None
    other = gate.run()
    refusal = gate.stage.refusal(gate.call(other, "invoice_discharge"))
    assert (refusal["code"], refusal["retryable"], refusal["state"]) == ("state_forbidden", True, "approved")
    assert "invoice_discharge" not in refusal["allowed"]
    reconcile(gate.stage.cast.alice.actor, lost.id, succeeded=True, evidence="The ledger has it.")
    assert (gate.where(), gate.row().taken_by) == (("discharged", 4), None)
    assert gate.stage.kinds(run_id).count("workflow_moved") == 3
    assert gate.office.called.count("invoice_discharge") == 1


def test_an_outcome_reconciled_as_failed_leaves_the_handle_for_the_next_caller(gate: Gate) -> None:
    run_id, stage = gate.at("approved"), gate.stage
    lost = gate.call(run_id, "invoice_discharge")
    stage.approve(run_id)
    stage.claim_only(run_id)
    with tenant_transaction(stage.tenant_id):
        Attempt.objects.filter(step_id=lost.id).update(started_at=timezone.now() - timedelta(hours=1))
    stage.lease_ends(run_id)
    stage.work(run_id)
    assert (stage.steps(run_id)[-1].status, gate.row().taken_by) == ("unknown", lost.id)
    cancel(stage.cast.alice.actor, run_id, reason="stop")
    reconcile(gate.stage.cast.alice.actor, lost.id, succeeded=False, evidence="The ledger has nothing.")
    assert (gate.where(), gate.row().taken_by) == (("approved", 3), None)
    assert gate.approved(gate.run(), "invoice_discharge").status == "succeeded"
    assert gate.where() == ("discharged", 4)


def test_a_call_in_flight_keeps_the_handle_to_itself(gate: Gate) -> None:
    first, second = gate.run(), gate.run()
    gate.office.gate = threading.Event()
    gate.stage.propose(first, gate.proposal("invoice_submit"))
    with working(first):
        assert gate.office.entered.wait(20)
        assert gate.where() == ("draft", 1)
        refusal = gate.stage.refusal(gate.call(second, "invoice_submit"))
        assert (refusal["code"], refusal["retryable"]) == ("state_forbidden", True)
        assert gate.handle in refusal["message"]
        with pytest.raises(InvalidWorkflow, match="stand in review"):
            install_workflow(gate.stage.tenant_id, _without_review())
        gate.office.gate.set()
    assert gate.where() == ("review", 2)
    assert gate.office.called == ["invoice_submit"]


def test_a_workflow_that_moved_after_the_approval_is_caught_at_the_claim(gate: Gate) -> None:
    first, second = gate.at("approved"), gate.run()
    gate.call(first, "invoice_discharge")
    held = gate.call(second, "invoice_discharge")
    assert held.status == "held"
    gate.stage.approve(first)
    gate.stage.work(first)
    gate.stage.approve(second)
    gate.stage.work(second)
    step = next(s for s in gate.stage.steps(second) if s.id == held.id)
    refusal = gate.stage.refusal(step)
    assert (step.status, refusal["code"], refusal["state"]) == ("refused", "state_forbidden", "discharged")
    assert "has moved to discharged since this call was proposed" in refusal["message"]
    assert gate.office.called.count("invoice_discharge") == 1
    used, reserved = gate.stage.budget(second)
    assert (used.tool_calls, reserved.tool_calls) == (0, 0)


def test_a_version_that_loses_a_state_in_which_handles_stand_is_refused(gate: Gate) -> None:
    gate.at("review")
    with pytest.raises(InvalidWorkflow, match="stand in review"):
        install_workflow(gate.stage.tenant_id, _without_review())


def test_a_new_version_holds_for_the_handles_that_stand_in_it(gate: Gate) -> None:
    run_id = gate.at("review")
    machine = {**MACHINE, "states": {**MACHINE["states"], "review": {"on": {"APPROVE": "discharged"}}}}
    bindings = [BINDINGS[0], BINDINGS[1]]
    install_workflow(gate.stage.tenant_id, {**INVOICE, "machine": machine, "bindings": bindings})
    assert gate.call(run_id, "invoice_approve").status == "succeeded"
    assert gate.where() == ("discharged", 3)


def test_a_store_outside_of_the_database_holds_the_state(gate: Gate, settings: Settings) -> None:
    settings.AGENTOPS_WORKFLOW_STORE = "memory"
    run_id = gate.at("review")
    row = gate.row()
    stored = store_of(gate.stage.tenant_id, row.workflow_id).load(gate.handle)
    assert stored is not None
    assert (stored.state, stored.revision) == gate.where() == ("review", 2)
    assert gate.stage.refusal(gate.call(run_id, "invoice_discharge"))["state"] == "review"


def test_a_save_whose_transaction_was_undone_does_not_move_the_handle_twice(gate: Gate, settings: Settings) -> None:
    settings.AGENTOPS_WORKFLOW_STORE = "memory"
    run_id = gate.run()
    gate.stage.propose(run_id, gate.proposal("invoice_submit"))
    call = gate.stage.claim_only(run_id)
    store_of(gate.stage.tenant_id, gate.row().workflow_id).save(gate.handle, "review", 1)
    assert gate.stage.refusal(gate.call(gate.run(), "invoice_submit"))["state"] == "draft"
    outcome = execution.perform(call)
    advancing.resume(call.tenant_id, run_id, uuid7(), settled=Settled(call, outcome))
    assert gate.where() == ("review", 2)
