"""Invariant 38: a client that times out, leaves or calls again meets the same approval and the same recorded result."""

from typing import Any

import pytest
from mcp import MCPError

from tests.mcp.agent import LEGACY, Agent, told
from tests.mcp.conftest import ERAS, Connect, only_run, runs
from tests.runs.scenario import Stage
from tests.up import until

HOLD = "X-AgentOps-Hold"


def _pay(agent: Agent, stage: Stage) -> dict[str, Any]:
    return told(agent.call("t_pay_plain", **_payment(stage)))


def _payment(stage: Stage) -> dict[str, Any]:
    return {"account": stage.account, "amount": "5"}


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_gives_up_finds_its_approval_and_then_its_result_again(
    stage: Stage, connect: Connect, worker: None, era: str
) -> None:
    patient = connect(era, **{HOLD: "60"})
    assert patient.names(), "the server is awake"
    with pytest.raises(MCPError):
        patient.call("t_pay_plain", **_payment(stage), seconds=2)
    request = stage.pending(only_run(stage))
    other = connect(LEGACY, **{HOLD: "0"})
    again = told(other.call("t_pay_plain", **_payment(stage)))
    assert (again["status"], again["approval_id"]) == ("pending_approval", str(request.id))
    stage.approve(only_run(stage))
    result = told(connect(era, **{HOLD: "0"}).call("approval_wait", approval_id=str(request.id), timeout_s=4))
    repeated = other.call("t_pay_plain", **_payment(stage))
    assert told(repeated) == result == {"account": stage.account, "status": "", "amount": "", "done": 1}
    assert repeated.meta is not None
    assert repeated.meta["agentops/repeated"] is True
    assert len(stage.world.paid) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_disconnects_takes_nothing_back(stage: Stage, connect: Connect, worker: None, era: str) -> None:
    agent = connect(era, **{HOLD: "60"})
    call = agent.begin("t_pay_plain", **_payment(stage))
    until(lambda: bool(runs(stage) and stage.requests(only_run(stage))))
    call.cancel()
    assert stage.pending(only_run(stage)).status == "pending"
    stage.approve(only_run(stage))
    assert _pay(agent, stage)["done"] == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_held_while_a_person_decides_answers_with_its_result(
    stage: Stage, connect: Connect, worker: None, era: str
) -> None:
    call = connect(era, **{HOLD: "60"}).begin("t_pay_plain", **_payment(stage))
    until(lambda: bool(runs(stage) and stage.requests(only_run(stage))))
    stage.approve(only_run(stage))
    assert told(call.result(30))["done"] == 1


def test_a_rejection_is_told_with_its_reason_and_stays(stage: Stage, connect: Connect) -> None:
    agent = connect(**{HOLD: "0"})
    approval = _pay(agent, stage)["approval_id"]
    stage.reject(only_run(stage), reason="too much")
    for result in (agent.call("approval_wait", approval_id=approval), agent.call("t_pay_plain", **_payment(stage))):
        assert result.is_error
        said = told(result)
        assert (said["error"], said["code"]) == ("FORBIDDEN", "approval_rejected")
        assert "too much" in said["message"]


def test_a_call_is_taken_back_by_its_caller_alone(stage: Stage, connect: Connect) -> None:
    agent, mallory = connect(**{HOLD: "0"}), connect(key=stage.cast.other_service.raw_key)
    approval = _pay(agent, stage)["approval_id"]
    with pytest.raises(MCPError):
        mallory.call("approval_cancel", approval_id=approval)
    assert told(agent.call("approval_cancel", approval_id=approval))["status"] == "withdrawn"
    assert stage.requests(only_run(stage))[0].status == "withdrawn"
    assert told(agent.call("approval_cancel", approval_id=approval))["code"] == "not_held"


def test_a_wanted_repetition_is_asked_for_by_the_host(stage: Stage, connect: Connect) -> None:
    agent = connect(**{HOLD: "0"})
    first = _pay(agent, stage)
    second = told(agent.call("t_pay_plain", **_payment(stage), meta={"agentops/again": 1}))
    assert first["approval_id"] != second["approval_id"]


def test_numbers_reach_people_as_they_were_written(stage: Stage, connect: Connect) -> None:
    connect(**{HOLD: "0"}).call_with("t_note", {"text": "big", "meta": {"id": 2**63 + 1}})
    assert str(2**63 + 1) in stage.pending(only_run(stage)).snapshot


def test_a_worker_lost_after_the_decision_leaves_the_call_to_the_next(stage: Stage, connect: Connect) -> None:
    agent = connect(**{HOLD: "0"})
    approval = _pay(agent, stage)["approval_id"]
    stage.approve(only_run(stage))
    meanwhile = told(agent.call("approval_wait", approval_id=approval, timeout_s=0))
    assert (meanwhile["status"], meanwhile["next"]["tool"]) == ("running", "approval_wait")
    stage.work(only_run(stage))
    assert told(agent.call("approval_wait", **{**meanwhile["next"]["arguments"], "timeout_s": 0}))["done"] == 1
    assert len(stage.world.paid) == 1


def test_a_worker_lost_in_the_call_makes_its_outcome_unknown_to_the_client_too(stage: Stage, connect: Connect) -> None:
    agent = connect(**{HOLD: "0"})
    approval = _pay(agent, stage)["approval_id"]
    run_id = only_run(stage)
    stage.approve(run_id)
    stage.claim_only(run_id)
    stage.lease_ends(run_id)
    stage.work(run_id)
    for result in (agent.call("approval_wait", approval_id=approval), agent.call("t_pay_plain", **_payment(stage))):
        assert (result.is_error, told(result)["code"]) == (True, "outcome_unknown")
    assert stage.world.paid == []
