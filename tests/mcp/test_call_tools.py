"""Listing and calling over MCP, by the SDK's client of either era."""

from uuid import UUID

import pytest
from mcp import MCPError

from tests.mcp.agent import LEGACY, told
from tests.mcp.conftest import ERAS, Connect
from tests.runs.scenario import TOOLS, Stage

OWN = ["approval_cancel", "approval_wait", "finish", "workflow_status"]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_sees_what_its_agent_has_and_its_key_may_use(stage: Stage, connect: Connect, era: str) -> None:
    agent = connect(era)
    assert agent.names() == sorted([*TOOLS, *OWN])
    by_name = {tool.name: tool for tool in agent.tools()}
    pay = by_name["t_pay"]
    assert pay.input_schema["required"] == ["account", "amount"]
    assert pay.annotations is not None
    assert (pay.annotations.read_only_hint, pay.annotations.destructive_hint) == (False, True)


@pytest.mark.parametrize("era", ERAS)
def test_a_free_call_is_made_and_answered(stage: Stage, connect: Connect, worker: None, era: str) -> None:
    result = connect(era).call("t_read", account=stage.account)
    assert not result.is_error
    assert told(result)["status"] == "open"
    assert stage.world.reads == 1


@pytest.mark.parametrize("era", ERAS)
def test_the_run_of_a_call_belongs_to_the_trace_of_its_caller(
    stage: Stage, connect: Connect, worker: None, era: str
) -> None:
    trace = f"00-{'5' * 32}-{'7' * 16}-01"
    result = connect(era, traceparent=trace).call("t_read", account=stage.account)
    assert result.meta is not None
    assert stage.run(UUID(result.meta["agentops/run"])).traceparent == trace


@pytest.mark.parametrize("era", ERAS)
def test_a_held_call_says_so_and_its_result_comes_after_a_person_approved(
    stage: Stage, connect: Connect, worker: None, era: str
) -> None:
    agent = connect(era, X_AgentOps_Hold="0")
    held = agent.call("t_pay_plain", account=stage.account, amount="5")
    said = told(held)
    assert (held.is_error, said["status"]) == (False, "pending_approval")
    assert said["approve_url"].endswith(f"/approvals/{said['approval_id']}")
    assert held.meta is not None
    waiting = agent.begin("approval_wait", approval_id=said["approval_id"], timeout_s=4)
    stage.approve(UUID(held.meta["agentops/run"]))
    result = waiting.result(20)
    if told(result).get("status") == "pending_approval":  # pragma: no cover - a slow machine
        result = agent.call("approval_wait", approval_id=said["approval_id"])
    assert told(result)["done"] == 1
    assert stage.world.paid[0][:2] == (stage.account, "5")


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_and_one_out_of_scope_are_told_alike(stage: Stage, connect: Connect, era: str) -> None:
    agent = connect(era)
    faults = []
    for name in ("t_nothing", "t_hidden"):
        with pytest.raises(MCPError) as refused:
            agent.call(name)
        faults.append((refused.value.error.code, refused.value.error.message.replace(name, "")))
    assert faults == [(-32602, "Unknown tool: ")] * 2


def test_arguments_that_do_not_fit_are_refused_in_words(stage: Stage, connect: Connect) -> None:
    result = connect().call("t_pay_plain", account=stage.account)
    assert result.is_error
    said = told(result)
    assert (said["error"], said["code"]) == ("INVALID_ARGUMENTS", "invalid_arguments")
    assert said["errors"]


def test_a_result_that_is_cut_by_a_few_characters_is_a_result(stage: Stage, connect: Connect, worker: None) -> None:
    stage.world.status = "x" * 7_934
    result = connect().call("t_read", account=stage.account)
    assert (result.is_error, result.structured_content and result.structured_content["truncated"]) == (False, True)
    assert result.structured_content["text"].endswith("…[truncated 5 chars]")


def test_a_run_is_begun_by_the_first_call_and_ended_by_finish(stage: Stage, connect: Connect, worker: None) -> None:
    agent = connect()
    assert told(agent.call("workflow_status"))["status"] == "no_run"
    first = agent.call("t_read", account=stage.account)
    again = connect(LEGACY).call("t_page", account=stage.account)
    assert first.meta is not None
    assert again.meta is not None
    assert first.meta["agentops/run"] == again.meta["agentops/run"]
    assert told(agent.call("finish", answer="All read."))["status"] == "finished"
    run = stage.run(UUID(first.meta["agentops/run"]))
    assert (run.status, run.answer) == ("succeeded", "All read.")
