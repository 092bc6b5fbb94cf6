"""Eight calls, people and workers at once want the last of a budget: it is never overspent, and nothing stays held."""

from decimal import Decimal

import pytest

from approvals.domain.decision import Verdict
from runs.domain.errors import RunFinished, TurnOpen
from runs.operations.deciding import Decided, decide
from runs.operations.submitting import Usage
from tests.races.conftest import together
from tests.runs.scenario import Stage

AMOUNTS = [f"1.0{place}" for place in range(8)]


@pytest.mark.parametrize(
    ("budget", "refused"),
    [
        ({"money": {"amount": "7.21", "currency": "EUR"}}, "money_budget"),
        ({"records": 7}, "record_budget"),
    ],
)
def test_eight_parallel_calls_race_for_seven_units(stage: Stage, budget: dict[str, object], refused: str) -> None:
    calls = [
        {"tool": "t_pay_priced", "args": {"account": stage.account, "amount": amount}, "on_error": "continue"}
        for amount in AMOUNTS
    ]
    run_id = stage.start(stage.agent("payer", [{"parallel": calls}], budget=budget))
    stage.work(run_id)
    assert stage.statuses(run_id) == ["held"] * 7 + ["refused"]
    assert f'"code":"{refused}"' in (stage.steps(run_id)[-1].refusal or "")
    asked = [r for r in stage.requests(run_id) if r.status == "pending"]
    bob = stage.cast.bob.actor
    decided = together(
        [lambda r=r: decide(bob, r.id, verdict=Verdict.APPROVE, digest=r.digest) for r in asked]  # type: ignore[misc]  # each its own
    )
    assert [type(d) for d in decided] == [Decided] * 7
    together([lambda: stage.work(run_id)] * 8)
    stage.work(run_id)
    assert sorted(amount for _, amount, _ in stage.world.paid) == AMOUNTS[:7]
    run = stage.run(run_id)
    assert run.status == "succeeded"
    used, reserved = stage.budget(run_id)
    assert (used.money, used.records, used.tool_calls) == (Decimal("7.21"), 7, 7)
    assert (reserved.money, reserved.records, reserved.tool_calls) == (Decimal(0), 0, 0)


def test_eight_workers_never_start_more_reads_than_the_run_has_calls(stage: Stage) -> None:
    calls = [{"tool": "t_page", "args": {"account": f"page {place}"}, "on_error": "continue"} for place in range(8)]
    run_id = stage.start(stage.agent("reader", [{"parallel": calls}], budget={"tool_calls": 7}))
    together([lambda: stage.work(run_id)] * 8)
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "tool_call_budget")
    used, reserved = stage.budget(run_id)
    assert used.tool_calls <= 7
    assert reserved.tool_calls == 0


def test_eight_turns_race_for_the_last_seven_tokens(stage: Stage) -> None:
    run_id = stage.outside(budget={"tokens": 7, "steps": 20})

    def one_turn(place: int) -> str:
        while True:
            try:
                stage.propose(run_id, stage.read(again=place), usage=Usage(input_tokens=1))
            except TurnOpen:
                stage.work(run_id)
            except RunFinished as over:
                return str(over.details["terminal_reason"])
            else:
                return "taken"

    together([lambda place=place: one_turn(place) for place in range(8)])  # type: ignore[misc]  # each its own
    used, reserved = stage.budget(run_id)
    assert (used.tokens, reserved.tool_calls) == (8, 0)
    assert stage.statuses(run_id) == ["succeeded"] * 7
    assert (stage.run(run_id).status, stage.run(run_id).terminal_reason) == ("exhausted", "token_budget")
    assert one_turn(8) == "token_budget"
    assert stage.budget(run_id)[0].tokens == 8
