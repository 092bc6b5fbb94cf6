"""State gating at this door: lists of runs, calls by guessed names, handles, and who is told that a list changed."""

from uuid import UUID

import pytest

from tests.cast import new_service
from tests.mcp.agent import LEGACY, MODERN, Agent, told
from tests.mcp.conftest import ERAS, Connect
from tests.runs.gates import Gate, new_gate
from tests.runs.scenario import Stage
from tests.up import until

AGENT = {"X-AgentOps-Agent": "gated"}
NOW = {"X-AgentOps-Hold": "0"}


@pytest.fixture
def gate(stage: Stage) -> Gate:
    return new_gate(stage)


def _at(connect: Connect, run_id: UUID, era: str = MODERN) -> Agent:
    return connect(era, path=f"/mcp/r/{run_id}", **NOW)


def _gated(agent: Agent) -> list[str]:
    return [name for name in agent.names() if name.startswith("invoice_") and name != "invoice_note"]


@pytest.mark.parametrize("era", ERAS)
def test_the_list_of_a_run_follows_its_state(gate: Gate, connect: Connect, worker: None, era: str) -> None:
    run_id = gate.run()
    agent = _at(connect, run_id, era)
    assert _gated(agent) == ["invoice_submit"]
    assert {tool.description for tool in agent.tools() if tool.name == "invoice_submit"} == {"Hand a draft in."}
    assert not agent.call("invoice_submit", invoice=gate.invoice).is_error
    assert _gated(agent) == ["invoice_approve", "invoice_reject"]
    assert not agent.call("invoice_approve", invoice=gate.invoice).is_error
    assert _gated(agent) == ["invoice_discharge"]
    held = told(agent.call("invoice_discharge", invoice=gate.invoice))
    gate.stage.approve(run_id)
    until(lambda: gate.where()[0] == "discharged")
    assert told(agent.call("approval_wait", approval_id=held["approval_id"]))["calls"] == 3
    assert _gated(agent) == []


@pytest.mark.parametrize("era", ERAS)
def test_a_guessed_name_is_forbidden_with_what_is_allowed(gate: Gate, connect: Connect, era: str) -> None:
    agent = _at(connect, gate.run(), era)
    result = agent.call("invoice_discharge", invoice=gate.invoice)
    said = told(result)
    assert result.is_error
    assert (said["error"], said["code"], said["state"]) == ("FORBIDDEN", "state_forbidden", "draft")
    assert "invoice_submit" in said["allowed"]
    assert [way["to"] for way in said["next"]] == ["review"]
    assert gate.office.called == []


def test_two_runs_do_not_share_a_state(gate: Gate, connect: Connect, worker: None) -> None:
    first, second = gate.run(), gate.run(handle="invoice:OTHER")
    _at(connect, first).call("invoice_submit", invoice=gate.invoice)
    assert _gated(_at(connect, first)) == ["invoice_approve", "invoice_reject"]
    assert _gated(_at(connect, second)) == ["invoice_submit"]


def test_two_callers_at_once_move_the_handle_once(gate: Gate, connect: Connect, worker: None) -> None:
    agents = [_at(connect, gate.run()), _at(connect, gate.run(), LEGACY)]
    calls = [agent.begin("invoice_submit", invoice=gate.invoice) for agent in agents]
    results = [call.result(60) for call in calls]
    assert sorted(result.is_error for result in results) == [False, True]
    assert gate.where() == ("review", 2)


def test_the_common_list_is_the_same_in_every_state_and_takes_a_handle(
    gate: Gate, connect: Connect, worker: None
) -> None:
    agent, run_id = connect(**AGENT, **NOW), gate.run()
    before = agent.tools()
    (submit,) = [tool for tool in before if tool.name == "invoice_submit"]
    assert set(submit.input_schema["properties"]) == {"invoice", "run"}
    assert not agent.call("invoice_submit", invoice=gate.invoice, run=str(run_id)).is_error
    assert gate.where() == ("review", 2)
    assert agent.tools() == before
    assert told(agent.call("workflow_status", run=str(run_id)))["state"] == "review"


def test_without_a_handle_there_is_no_state_to_fall_back_to(gate: Gate, connect: Connect) -> None:
    gate.run()
    said = told(connect(**AGENT, **NOW).call("invoice_submit", invoice=gate.invoice))
    assert (said["error"], said["code"], said["state"]) == ("FORBIDDEN", "state_forbidden", None)


def test_a_handle_is_no_credential(gate: Gate, connect: Connect) -> None:
    run_id = gate.run()
    other = new_service(gate.stage.cast.carol, "others").raw_key
    for key in (other, ""):
        named = str(run_id) if key else "018f0000-0000-7000-8000-000000000000"
        said = told(connect(key=key, **AGENT, **NOW).call("invoice_submit", invoice=gate.invoice, run=named))
        assert said["code"] == "not_found"
    assert gate.where() == ("draft", 1)


def test_who_listens_is_told_of_their_own_run_alone(gate: Gate, connect: Connect, worker: None) -> None:
    mine, others = gate.run(), gate.run(handle="invoice:OTHER")
    agent, neighbour = _at(connect, mine), _at(connect, others)
    with agent.listening() as told_to_me, neighbour.listening() as told_to_them:
        agent.call("invoice_submit", invoice=gate.invoice)
        assert told_to_me.get(timeout=60) == "changed"
        assert _gated(agent) == ["invoice_approve", "invoice_reject"], "the change was not told before it was so"
        agent.call("invoice_reject", invoice=gate.invoice)
        assert told_to_me.get(timeout=60) == "changed"
        assert told_to_them.empty()
