"""What a model takes is reserved before it is asked and charged after: no request is made that may cost too much."""

import json
from decimal import Decimal
from typing import Any

import pytest

from runs.domain.errors import InvalidAgent
from runs.planners import pricing
from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking, asked_only, lease_ends

EUR = {"input": "1", "output": "2", "currency": "EUR"}


def _money(amount: str) -> dict[str, Any]:
    return {"money": {"amount": amount, "currency": "EUR"}}


def _first_prompt(stage: Thinking) -> int:
    """About how many tokens the first request has."""
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server)
        asked = asked_only(run_id)
    return asked.prompt.tokens


def test_the_answer_may_be_as_long_as_the_tokens_that_are_left(stage: Thinking) -> None:
    prompt = _first_prompt(stage)
    with model_serving(saying("Done.", usage=(prompt, 50))) as server:
        run_id = stage.thinker(server, budget={"tokens": prompt + 60})
        stage.work(run_id)
        sent = server.prompts[0]
    assert 30 < (sent.get("max_completion_tokens") or sent["max_tokens"]) <= 60
    assert stage.run(run_id).status == "succeeded"
    assert stage.budget(run_id)[0].tokens == prompt + 50


def test_too_few_tokens_for_a_request_end_the_run_before_it(stage: Thinking) -> None:
    prompt = _first_prompt(stage)
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server, budget={"tokens": prompt})
        stage.work(run_id)
        assert server.requests == []
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "token_budget")


def test_tokens_used_beyond_the_budget_end_the_run_before_its_answer_is_used(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": stage.account}), usage=(90_000, 20_000))) as server:
        run_id = stage.thinker(server, budget={"tokens": 100_000})
        stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "token_budget")
    assert stage.steps(run_id) == []
    assert stage.budget(run_id)[0].tokens == 110_000


def test_exactly_the_budget_is_not_beyond_it(stage: Thinking) -> None:
    with model_serving(
        calling(("t_read", {"account": stage.account}), usage=(90_000, 10_000)), saying("Done.")
    ) as server:
        run_id = stage.thinker(server, budget={"tokens": 100_000})
        stage.work(run_id)
        assert len(server.requests) == 1
    assert stage.statuses(run_id) == ["succeeded"]
    assert stage.run(run_id).terminal_reason == "token_budget"


def test_money_is_reserved_for_the_longest_answer_and_charged_for_the_real_one(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": stage.account})), saying("Done.")) as server:
        run_id = stage.thinker(server, budget=_money("5"), prices=EUR)
        asked = asked_only(run_id)
        reserved = stage.budget(run_id)[1].money
        assert reserved == pricing.estimate(asked.spec, asked.prompt.tokens, asked.max_output)
        lease_ends(stage, run_id)
        stage.work(run_id)
    used, left = stage.budget(run_id)
    assert used.money == reserved + 2 * Decimal("0.00014")
    assert left.money == 0
    assert stage.calls(run_id)[1].price == "0.00014 EUR"


def test_too_little_money_for_a_request_ends_the_run_before_it(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server, budget=_money("0.0001"), prices=EUR)
        stage.work(run_id)
        assert server.requests == []
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "money_budget")


def test_little_money_makes_the_answer_shorter(stage: Thinking) -> None:
    prompt = _first_prompt(stage)
    enough = Decimal(prompt + 2 * 100) / 1_000_000
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server, budget=_money(str(enough)), prices=EUR)
        asked = asked_only(run_id)
    assert 80 <= asked.max_output <= 100
    assert stage.budget(run_id)[1].money <= enough


def test_a_turn_budget_counts_every_answer_of_the_model(stage: Thinking) -> None:
    read = calling(("t_read", {"account": stage.account}))
    with model_serving(read, saying("Done.")) as server:
        run_id = stage.thinker(server, budget={"steps": 2})
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert stage.budget(run_id)[0].steps == 2
    with model_serving(read) as server:
        run_id = stage.thinker(server, budget={"steps": 2})
        stage.work(run_id)
        assert len(server.requests) == 2
    assert stage.run(run_id).terminal_reason == "step_budget"


def test_a_server_that_counts_nothing_is_counted_by_estimate(stage: Thinking) -> None:
    with model_serving(saying("Done.", usage=None)) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
    (call,) = stage.calls(run_id)
    assert call.input_tokens > 100
    assert call.output_tokens > 0
    assert stage.budget(run_id)[0].tokens == call.input_tokens + call.output_tokens


@pytest.mark.parametrize("usage", [(-500, 3), (10**30, 0)])
def test_a_server_that_counts_nonsense_gives_nothing_back_and_breaks_nothing(
    stage: Thinking, usage: tuple[int, int]
) -> None:
    with model_serving(saying("Done.", usage=usage)) as server:
        run_id = stage.thinker(server, prices=EUR, budget=_money("5"))
        stage.work(run_id)
    used = stage.budget(run_id)[0]
    assert stage.run(run_id).terminal_reason != "internal_error"
    assert 0 <= used.tokens <= 10**12
    assert used.money >= 0


def test_published_prices_are_known_and_in_dollars(stage: Thinking) -> None:
    with model_serving(saying("Done.", usage=(1_000_000, 1_000_000))) as server:
        run_id = stage.thinker(server, provider="openai", name="gpt-4o-mini", tools=["t_read"], budget={
            "money": {"amount": "100", "currency": "USD"}})  # fmt: skip
        stage.work(run_id)
    (call,) = stage.calls(run_id)
    assert call.cost is not None
    assert Decimal("0.1") < call.cost < Decimal(10)
    assert stage.budget(run_id)[0].money == call.cost


@pytest.mark.parametrize(
    ("model", "budget", "pointer"),
    [
        ({"prices": EUR}, {"money": {"amount": "1", "currency": "USD"}}, "/model/prices/currency"),
        ({"name": "nobody-knows"}, {"money": {"amount": "1", "currency": "USD"}}, "/model/prices"),
        ({"provider": "openai", "name": "gpt-4o"}, {"money": {"amount": "1", "currency": "EUR"}}, "/model/prices"),
        ({"credential": "none"}, {}, "/model/credential"),
    ],
)
def test_a_price_or_a_key_that_is_missing_is_said_when_the_agent_is_saved(
    stage: Thinking, model: dict[str, Any], budget: dict[str, Any], pointer: str
) -> None:
    with model_serving(saying("Done.")) as server, pytest.raises(InvalidAgent) as caught:
        stage.thinker(server, budget=budget, tools=["t_read"], **model)
    assert [fault["pointer"] for fault in caught.value.details["errors"]] == [pointer]


def test_a_run_in_another_currency_than_the_prices_says_so(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        stage.thinker(server, prices=EUR)
        run_id = stage.start("thinker", budget={"money": {"amount": "1", "currency": "USD"}})
        stage.work(run_id)
    run = stage.run(run_id)
    assert run.terminal_reason == "planner_failed"
    assert "prices" in run.ended_because
    assert json.loads(run.used)["tokens"] == 0
