"""Budgets at their edge: reserved before, settled after, released when nothing came of it, kept through restarts."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from approvals.domain.decision import Then
from runs.domain.errors import InvalidRequest, RunFinished
from runs.domain.planning import Finish, ToolProposal
from runs.operations.cancelling import cancel
from runs.operations.submitting import Usage
from tests.runs.scenario import Stage
from tools.domain.outcome import ToolError

EUR = {"money": {"amount": "10", "currency": "EUR"}}


def _reserved(stage: Stage, run_id: UUID) -> tuple[int, Decimal, int]:
    reserved = stage.budget(run_id)[1]
    return reserved.tool_calls, reserved.money, reserved.records


def _priced(stage: Stage, amount: str) -> ToolProposal:
    return stage.pay(amount, tool="t_pay_priced")


def _rejects(stage: Stage, run_id: UUID) -> None:
    stage.reject(run_id)


def _stops(stage: Stage, run_id: UUID) -> None:
    stage.reject(run_id, then=Then.STOP)


def _expires(stage: Stage, run_id: UUID) -> None:
    stage.nobody_decides(run_id)
    stage.work(run_id)


def _cancels(stage: Stage, run_id: UUID) -> None:
    cancel(stage.cast.alice.actor, run_id)


def _fails(stage: Stage, run_id: UUID) -> None:
    stage.approve(run_id)
    stage.world.fail_next = ToolError("no_funds", "The account is empty.")
    stage.work(run_id)


@pytest.mark.parametrize("ends", [_rejects, _stops, _expires, _cancels, _fails])
def test_what_was_reserved_is_released_when_nothing_was_done(stage: Stage, ends: Any) -> None:
    run_id = stage.outside(budget=EUR)
    stage.propose(run_id, _priced(stage, "7.5"))
    assert _reserved(stage, run_id) == (1, Decimal("7.5"), 1)
    ends(stage, run_id)
    assert _reserved(stage, run_id) == (0, Decimal(0), 0)
    used = stage.budget(run_id)[0]
    assert (used.tool_calls, used.money) == (1 if ends is _fails else 0, Decimal(0))


def test_a_pending_request_holds_the_last_of_the_money(stage: Stage) -> None:
    run_id = stage.outside(budget=EUR)
    held, refused, fits = stage.propose(run_id, *(_priced(stage, amount) for amount in ("9.99", "0.02", "0.01")))
    assert (held.status, refused.status, fits.status) == ("held", "refused", "held")
    assert stage.refusal(refused)["code"] == "money_budget"
    for _ in range(2):
        stage.approve(run_id)
        stage.work(run_id)
    assert stage.budget(run_id)[0].money == Decimal(10)
    assert _reserved(stage, run_id) == (0, Decimal(0), 0)


def test_the_same_lack_of_money_three_times_ends_the_run(stage: Stage) -> None:
    run_id = stage.outside(budget=EUR)
    for amount in ("11", "12"):
        stage.propose(run_id, _priced(stage, amount))
    assert stage.run(run_id).finished_at is None
    stage.propose(run_id, _priced(stage, "13"))
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "money_budget")


@pytest.mark.parametrize("amount", ["1e30", "0.000000001", "-1", "NaN", "Infinity", "ten", "1" * 17])
def test_an_amount_that_cannot_be_counted_never_reaches_a_person(stage: Stage, amount: str) -> None:
    run_id = stage.outside()
    (step,) = stage.propose(run_id, _priced(stage, amount))
    assert (step.status, stage.refusal(step)["code"]) == ("refused", "invalid_arguments")
    assert stage.requests(run_id) == []


def test_another_currency_is_refused_when_it_is_proposed(stage: Stage) -> None:
    dollars = {"money": {"amount": "10", "currency": "USD"}}
    run_id = stage.start(stage.external(), by=stage.cast.service.actor, budget=dollars)
    (step,) = stage.propose(run_id, _priced(stage, "1"))
    assert stage.refusal(step)["code"] == "invalid_arguments"
    with pytest.raises(InvalidRequest):
        stage.propose(run_id, stage.read(), usage=Usage(cost=Decimal(1), currency="EUR"))


def test_what_the_planner_costs_is_counted(stage: Stage) -> None:
    run_id = stage.outside(budget={**EUR, "tokens": 100})
    stage.propose(run_id, stage.read(), usage=Usage(30, 20, Decimal("9.5"), "EUR"))
    stage.work(run_id)
    used = stage.budget(run_id)[0]
    assert (used.tokens, used.money) == (50, Decimal("9.5"))
    (step,) = stage.propose(run_id, _priced(stage, "0.51"), usage=Usage(50, 0))
    assert stage.refusal(step)["code"] == "money_budget"
    stage.propose(run_id, stage.read(again=1), usage=Usage(1, 0))
    assert stage.run(run_id).terminal_reason == "token_budget"


def test_parallel_calls_cannot_start_more_than_the_budget(stage: Stage) -> None:
    run_id = stage.outside(budget={"tool_calls": 2})
    stage.propose(run_id, *(stage.read(again=n) for n in range(3)))
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "tool_call_budget")
    assert stage.world.reads == 0
    assert _reserved(stage, run_id)[0] == 0


def test_the_last_call_and_the_last_turn_are_still_made(stage: Stage) -> None:
    run_id = stage.outside(budget={"tool_calls": 2, "steps": 2})
    for n in range(2):
        stage.propose(run_id, stage.read(again=n))
        stage.work(run_id)
    assert stage.world.reads == 2
    stage.propose(run_id, Finish("done"))
    assert stage.run(run_id).status == "succeeded"


def test_time_that_is_up_is_named_and_a_wait_for_people_does_not_count(stage: Stage) -> None:
    run_id = stage.outside(budget={"seconds": 60})
    stage.propose(run_id, stage.pay())
    stage.time_is_up(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["held"]
    stage.approve(run_id)
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "time_budget")
    assert (stage.statuses(run_id), stage.world.paid) == (["withdrawn"], [])
    with pytest.raises(RunFinished):
        stage.propose(run_id, stage.read())


def test_too_much_result_stops_the_calls_that_have_not_started(stage: Stage) -> None:
    run_id = stage.outside(budget={"result_bytes": 10})
    stage.propose(run_id, stage.read(), stage.read(again=1))
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "result_budget")
    assert (stage.statuses(run_id), stage.world.reads) == (["succeeded", "withdrawn"], 1)


def test_a_lost_worker_keeps_the_counters_and_an_unknown_call_its_reservation(stage: Stage) -> None:
    run_id = stage.outside(budget=EUR)
    stage.propose(run_id, _priced(stage, "4"))
    stage.approve(run_id)
    stage.claim_only(run_id)
    assert (stage.budget(run_id)[0].tool_calls, _reserved(stage, run_id)) == (1, (0, Decimal(4), 1))
    stage.lease_ends(run_id)
    stage.work(run_id)
    assert (stage.budget(run_id)[0].tool_calls, _reserved(stage, run_id)) == (1, (0, Decimal(4), 1))
