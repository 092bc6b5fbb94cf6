"""fsm-state-gating: a tool is there in its states alone, moves the workflow when it succeeded, and then is gone."""

import json
from collections.abc import Iterable
from uuid import UUID

import pytest

from runs.offers import Offer, offer_of_run
from tests.runs.gates import BINDINGS, INVOICE, Gate, new_gate
from tests.runs.scenario import Stage
from tools.call import PinnedTool
from tools.operations import set_enabled
from tools.registry import manifest_for
from tools.workflow_changes import install_workflow


@pytest.fixture
def gate(stage: Stage) -> Gate:
    return new_gate(stage)


def _offer(gate: Gate, run_id: UUID) -> Offer:
    return offer_of_run(gate.stage.cast.service.actor, run_id)


def _named(tools: Iterable[PinnedTool]) -> list[str]:
    return [tool.name.removeprefix("invoice_") for tool in tools if tool.name.startswith("invoice_")]


def _listed(gate: Gate, run_id: UUID) -> list[str]:
    return _named(_offer(gate, run_id).in_place)


def _said(gate: Gate, run_id: UUID) -> dict[str, str]:
    offer, scopes = _offer(gate, run_id), gate.stage.cast.service.actor.scopes
    return {tool["name"]: tool["description"] for tool in manifest_for(scopes, offer.tools, offer.standing)}


def test_the_invoice_workflow_runs_as_written(gate: Gate) -> None:
    run_id = gate.run()
    assert _listed(gate, run_id) == ["note", "submit"]
    assert gate.call(run_id, "invoice_submit").status == "succeeded"
    assert _listed(gate, run_id) == ["approve", "note", "reject"]
    assert gate.call(run_id, "invoice_approve").status == "succeeded"
    assert _listed(gate, run_id) == ["discharge", "note"]
    assert gate.approved(run_id, "invoice_discharge").status == "succeeded"
    assert _listed(gate, run_id) == ["note"]
    assert gate.where() == ("discharged", 4)
    moves = [json.loads(e.data) for e in gate.stage.events(run_id) if e.kind == "workflow_moved"]
    assert [(m["event"], m["from"], m["to"], m["revision"]) for m in moves] == [
        ("SUBMIT", "draft", "review", 2),
        ("APPROVE", "review", "approved", 3),
        ("DISCHARGE", "approved", "discharged", 4),
    ]
    assert gate.office.called == ["invoice_submit", "invoice_approve", "invoice_discharge"]


def test_a_guessed_name_gets_state_forbidden_with_the_state_and_the_allowed_tools(gate: Gate) -> None:
    run_id = gate.run()
    step = gate.call(run_id, "invoice_discharge")
    refusal = gate.stage.refusal(step)
    assert (step.status, refusal["code"], refusal["retryable"]) == ("refused", "state_forbidden", False)
    assert (refusal["state"], refusal["handle"], refusal["revision"]) == ("draft", gate.handle, 1)
    assert [name for name in refusal["allowed"] if name.startswith("invoice_")] == ["invoice_note", "invoice_submit"]
    assert refusal["next"] == [{"tool": "invoice_submit", "event": "SUBMIT", "to": "review"}]
    assert gate.office.called == []


def test_what_an_agent_is_told_of_its_state_is_what_the_call_path_allows(gate: Gate) -> None:
    run_id = gate.at("review")
    told = _offer(gate, run_id).told
    assert (told["state"], told["revision"], told["is_final"]) == ("review", 2, False)
    assert {one["tool"]: one["to"] for one in told["next"]} == {
        "invoice_approve": "approved",
        "invoice_reject": "draft",
    }
    assert _named(_offer(gate, run_id).tools) == ["approve", "discharge", "note", "reject", "submit"]


def test_a_short_description_is_enough_in_the_initial_state(gate: Gate) -> None:
    run_id = gate.run()
    said = _said(gate, run_id)
    assert (said["invoice_submit"], said["invoice_note"]) == ("Hand a draft in.", "Write.")
    gate.call(run_id, "invoice_submit")
    said = _said(gate, run_id)
    assert (said["invoice_reject"], said["invoice_note"]) == (
        "Send a reviewed invoice back.",
        "Write on the invoice, in any state.",
    )


def test_a_run_without_a_workflow_cannot_call_what_is_bound_to_one(gate: Gate) -> None:
    run_id = gate.stage.start("gated", by=gate.stage.cast.service.actor)
    assert _listed(gate, run_id) == ["note"]
    refusal = gate.stage.refusal(gate.call(run_id, "invoice_submit"))
    assert (refusal["code"], refusal["state"]) == ("state_forbidden", None)
    assert gate.call(run_id, "invoice_note").status == "succeeded"


def test_two_handles_never_share_a_state(gate: Gate) -> None:
    moved = gate.at("approved")
    other = gate.run(handle="invoice:other")
    assert gate.where() == ("approved", 3)
    assert gate.where("invoice:other") == ("draft", 1)
    assert _listed(gate, moved) != _listed(gate, other)


def test_runs_that_name_one_handle_stand_at_the_same_state(gate: Gate) -> None:
    first, second = gate.run(), gate.run(by=gate.stage.cast.service.actor)
    gate.call(first, "invoice_submit")
    assert _listed(gate, second) == ["approve", "note", "reject"]
    assert gate.call(second, "invoice_reject").status == "succeeded"
    assert gate.where() == ("draft", 3)
    assert [e.kind for e in gate.stage.events(first)].count("workflow_moved") == 1


def test_a_tool_that_the_run_may_not_use_is_not_told_of(gate: Gate) -> None:
    run_id = gate.at("approved")
    set_enabled(gate.stage.cast.carol.actor, "invoice_discharge", enabled=False)
    told = _offer(gate, run_id).told
    assert "invoice_discharge" not in told["allowed"]
    assert gate.stage.refusal(gate.call(run_id, "invoice_discharge"))["code"] == "tool_denied"


def test_a_workflow_that_binds_a_tool_no_more_sets_it_free(gate: Gate) -> None:
    run_id = gate.stage.start("gated", by=gate.stage.cast.service.actor)
    install_workflow(gate.stage.tenant_id, {**INVOICE, "bindings": BINDINGS[1:]})
    assert _listed(gate, run_id) == ["note", "submit"]
    install_workflow(gate.stage.tenant_id, {**INVOICE, "name": "other", "bindings": BINDINGS[:1]})
    assert _listed(gate, run_id) == ["note"]


def test_a_repeated_call_is_told_of_the_first_one_though_the_state_has_moved(gate: Gate) -> None:
    run_id = gate.at("review")
    first = next(s for s in gate.stage.steps(run_id) if s.tool == "invoice_submit")
    refusal = gate.stage.refusal(gate.call(run_id, "invoice_submit"))
    assert (refusal["code"], refusal["earlier_step"]) == ("repeated_action", str(first.id))
