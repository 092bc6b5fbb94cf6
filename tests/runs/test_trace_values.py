"""What a request tells about where its values came from, taken with the run's own rows."""

from typing import Any

from approvals.queries import request as request_of
from runs.domain.planning import ToolProposal
from tests.runs.scenario import Stage


def traced(stage: Stage, run_id: Any) -> dict[str, list[Any]]:
    snapshot = request_of(stage.cast.bob.actor, stage.pending(run_id).id).snapshot
    return {row["path"]: row["found"] for row in snapshot["provenance"]}


def test_a_result_that_came_in_the_same_transaction_is_known(stage: Stage) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": {"$cel": "page.account"}, "amount": "5"}}
    look = {"tool": "t_read", "args": {"account": {"$cel": "input.account"}}, "save_as": "page"}
    run_id = stage.start(stage.agent("payer", [look, pay]), given={"account": stage.account})
    stage.work(run_id)
    given, read = traced(stage, run_id)["/account"]
    assert (given["source"], given["at"], given["match"]) == ("input", "/account", "same")
    step = stage.steps(run_id)[0]
    assert (read["source"], read["step"], read["turn"], read["tool"]) == ("observation", str(step.id), 1, "t_read")
    assert read["trust"] == "trusted"


def test_what_was_read_in_earlier_segments_is_known_and_the_same_turn_is_not(stage: Stage) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    stage.propose(run_id, stage.read(again=1), stage.pay())
    assert [place["turn"] for place in traced(stage, run_id)["/account"]] == [1]


def test_a_secret_is_told_by_its_mark_alone(stage: Stage) -> None:
    token = "sk-live-0123456789abcdef"
    run_id = stage.outside(given={"password": token})
    stage.propose(run_id, ToolProposal("t_note", {"account": stage.account, "text": "x", "config": {"token": token}}))
    request = stage.pending(run_id)
    assert token not in request.snapshot
    (place,) = traced(stage, run_id)["/config/token"]
    assert (place["source"], place["match"]) == ("input", "same")


def test_asking_again_traces_again(stage: Stage) -> None:
    run_id = stage.outside(given={"account": stage.account})
    stage.propose(run_id, stage.pay(tool="t_pay"))
    before = traced(stage, run_id)
    first = stage.pending(run_id)
    stage.world.amount = "13950.00"
    stage.approve(run_id)
    stage.work(run_id)
    assert stage.pending(run_id).id != first.id
    assert traced(stage, run_id) == before
    assert [place["source"] for place in before["/account"]] == ["input"]
