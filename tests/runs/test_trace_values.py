"""What a request tells about where its values came from, taken with the run's own rows."""

from typing import Any

import pytest

from agentops.tenancy.transaction import tenant_transaction
from approvals.queries import request as request_of
from runs.domain.planning import ToolProposal
from runs.models import Observation
from runs.operations import origins
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


def test_only_the_latest_of_very_much_that_was_read_is_looked_at(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = stage.outside()
    for number in range(3):
        stage.propose(run_id, stage.read(again=number))
        stage.work(run_id)
    with tenant_transaction(stage.tenant_id):
        size = len(Observation.objects.filter(step__run_id=run_id)[0].content.encode())
    monkeypatch.setattr(origins, "MOST_READ", size + 1)
    stage.propose(run_id, stage.pay())
    assert [place["turn"] for place in traced(stage, run_id)["/account"]] == [3, 2]
