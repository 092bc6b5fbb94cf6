"""The loop, the budgets and the error shapes of “The agent stack just grew up”, as they are printed there.

Its `unknown_tool` and `insufficient_scope` are one code here, `tool_denied`: two would tell which tools exist. Its
`budget_exhausted` says which budget, and its `aborted` says why.
"""

import json
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from tests.model_server import ModelServer, calling, model_serving, saying
from tests.planners.conftest import Thinking
from tests.runs.world import Account
from tests.tools.server import answering
from tools.declare import ToolContext, tool
from tools.domain.outcome import ToolError
from tools.operations import install_code_tools


class Text(BaseModel):
    """A text."""

    text: str


@tool(name="t_long", description="Says much.", risk="read", scope="ledger:read", output_trust="trusted")
def t_long(args: Account, ctx: ToolContext) -> Text:
    return Text(text="x" * 9_000)


@tool(name="t_crash", description="Crashes.", risk="read", scope="ledger:read")
def t_crash(args: Account, ctx: ToolContext) -> Text:
    raise RuntimeError("internals")


@tool(name="t_refuse", description="Refuses.", risk="read", scope="ledger:read")
def t_refuse(args: Account, ctx: ToolContext) -> Text:
    raise ToolError("locked", "The account is locked.", True, "Try tomorrow.")


@tool(name="t_secret", description="Out of reach.", risk="read", scope="vault:read")
def t_secret(args: Account, ctx: ToolContext) -> Text:
    return Text(text="secret")


TOOLS = ("t_read", "t_long", "t_crash", "t_refuse", "t_secret")


def _run(stage: Thinking, server: ModelServer, **budget: int) -> UUID:
    install_code_tools(stage.tenant_id, TOOLS)
    run_id = stage.thinker(server, tools=TOOLS, budget=budget, by=stage.cast.service.actor)
    stage.work(run_id)
    return run_id


def _told(server: ModelServer, at: int) -> list[Any]:
    """The results that the model read last, each as the JSON inside its fence."""
    texts = [m["content"] for m in server.prompts[at]["messages"] if m["role"] == "tool"]
    return [text.split("\n")[1] if text.startswith("<untrusted") else text for text in texts]


def test_completed(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": stage.account})), saying("All good.")) as server:
        run_id = _run(stage, server)
    run, used = stage.run(run_id), stage.budget(run_id)[0]
    assert (run.status, run.terminal_reason, run.answer) == ("succeeded", "completed", "All good.")
    assert (used.steps, used.tool_calls) == (2, 1)


def test_budget_exhausted_by_max_steps(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": stage.account}))) as server:
        run_id = _run(stage, server, steps=3)
        assert len(server.requests) == 3
    run, used = stage.run(run_id), stage.budget(run_id)[0]
    assert (run.status, run.terminal_reason, used.steps) == ("exhausted", "step_budget", 3)


def test_budget_exhausted_by_max_tool_calls(stage: Thinking) -> None:
    reads = [("t_read", {"account": stage.account}), ("t_long", {"account": "a"}), ("t_long", {"account": "b"})]
    with model_serving(calling(*reads)) as server:
        run_id = _run(stage, server, tool_calls=2)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "tool_call_budget")


def test_budget_exhausted_by_wall_clock(stage: Thinking) -> None:
    with model_serving(saying("Too late.")) as server:
        install_code_tools(stage.tenant_id, TOOLS)
        run_id = stage.thinker(server, budget={"seconds": 5})
        stage.time_is_up(run_id)
        stage.work(run_id)
        assert server.requests == []
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "time_budget")


def test_aborted(stage: Thinking) -> None:
    with model_serving(answering(401, {"error": {"message": "no"}}, Content_Type="application/json")) as server:
        run_id = _run(stage, server)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "planner_failed")


def test_only_tools_that_the_actor_may_use_are_ever_shown_to_the_model(stage: Thinking) -> None:
    with model_serving(saying("Fine.")) as server:
        _run(stage, server)
        shown = [tool["function"] for tool in server.prompts[0]["tools"]]
    assert [tool["name"] for tool in shown] == ["t_crash", "t_long", "t_read", "t_refuse"]
    assert set(shown[0]) == {"name", "description", "parameters"}


def test_an_unknown_tool_and_one_out_of_scope_are_told_the_same(stage: Thinking) -> None:
    args = {"account": stage.account}
    with model_serving(calling(("t_nothing", args), ("t_secret", args)), saying("Fine.")) as server:
        _run(stage, server)
        one, other = (json.loads(text) for text in _told(server, 1))
    assert one["code"] == other["code"] == "tool_denied"
    assert one["message"].replace("t_nothing", "") == other["message"].replace("t_secret", "")


def test_invalid_arguments_name_their_issues(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": 5})), saying("Fine.")) as server:
        _run(stage, server)
        (told,) = (json.loads(text) for text in _told(server, 1))
    assert told["code"] == "invalid_arguments"
    assert [error["pointer"] for error in told["errors"]] == ["/account"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("t_refuse", {"code": "locked", "message": "The account is locked.", "retryable": True,
                      "hint": "Try tomorrow."}),
        ("t_crash", {"code": "tool_failed", "message": "The tool stopped with an unhandled error.",
                     "retryable": False, "hint": ""}),
    ],
)  # fmt: skip
def test_an_error_is_an_observation_that_lets_the_model_recover(
    stage: Thinking, name: str, error: dict[str, Any]
) -> None:
    with model_serving(calling((name, {"account": stage.account})), saying("Fine.")) as server:
        run_id = _run(stage, server)
        (told,) = (json.loads(text) for text in _told(server, 1))
    assert told == {"error": error}
    assert stage.run(run_id).status == "succeeded"


def test_an_observation_is_cut_at_eight_thousand_and_says_so(stage: Thinking) -> None:
    with model_serving(calling(("t_long", {"account": "a"})), saying("Fine.")) as server:
        _run(stage, server)
        (text,) = _told(server, 1)
    whole = json.dumps({"text": "x" * 9_000}, separators=(",", ":"))
    assert text == f"{whole[:8000]}…[truncated {len(whole) - 8000} chars]"
