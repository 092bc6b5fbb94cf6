"""fsm-state-gating: a tool is there in its states alone, moves the workflow when it succeeded, and then is gone."""

import json

import pytest

from runs.standings import offer
from tests.runs.gates import Gate, new_gate
from tests.runs.scenario import Stage


@pytest.fixture
def gate(stage: Stage) -> Gate:
    return new_gate(stage)


def _listed(gate: Gate, run_id: object) -> list[str]:
    tools = offer(gate.stage.cast.service.actor, run_id).tools  # type: ignore[arg-type]
    return [tool["name"] for tool in tools if tool["name"].startswith("invoice_")]


def test_the_invoice_workflow_runs_as_written(gate: Gate) -> None:
    run_id = gate.run()
    assert _listed(gate, run_id) == ["invoice_note", "invoice_submit"]
    assert gate.call(run_id, "invoice_submit").status == "succeeded"
    assert _listed(gate, run_id) == ["invoice_approve", "invoice_note", "invoice_reject"]
    assert gate.call(run_id, "invoice_approve").status == "succeeded"
    assert _listed(gate, run_id) == ["invoice_discharge", "invoice_note"]
    assert gate.approved(run_id, "invoice_discharge").status == "succeeded"
    assert _listed(gate, run_id) == ["invoice_note"]
    assert gate.where() == ("discharged", 4)
    moves = [json.loads(e.data) for e in gate.stage.events(run_id) if e.kind == "workflow_moved"]
    assert [(m["event"], m["from"], m["to"], m["revision"]) for m in moves] == [
        ("SUBMIT", "draft", "review", 2),
        ("APPROVE", "review", "approved", 3),
        ("DISCHARGE", "approved", "discharged", 4),
    ]


def test_a_guessed_name_gets_state_forbidden_with_the_state_and_the_allowed_tools(gate: Gate) -> None:
    run_id = gate.run()
    step = gate.call(run_id, "invoice_discharge")
    assert step.status == "refused"
    refusal = gate.stage.refusal(step)
    assert refusal["code"] == "state_forbidden"
    assert (refusal["state"], refusal["handle"], refusal["revision"]) == ("draft", gate.handle, 1)
    assert [name for name in refusal["allowed"] if name.startswith("invoice_")] == ["invoice_note", "invoice_submit"]
    assert refusal["next"] == [{"tool": "invoice_submit", "event": "SUBMIT", "to": "review"}]
    assert gate.office.called == []
