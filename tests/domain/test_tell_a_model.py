"""What a model is sent and what its answers mean, without a server."""

from decimal import Decimal
from typing import Any

import pytest

from runs.domain.agent import check_agent
from runs.domain.errors import InvalidAgent
from runs.domain.model_answer import ModelAnswer, ToolUse, read_answer, stored_answer
from runs.domain.model_spec import PROVIDERS, read_model
from runs.domain.planning import Finish, Refusal, Turn
from runs.domain.prompt import PastCall, PastTurn, Prompt, build, tokens_of
from tests.domain.test_check_agents import agent, faults_of
from tools.domain.canonical import parse

MODEL: dict[str, Any] = {"provider": "openai", "name": "gpt-4o"}
FENCE = "f" * 32


def prompt(turns: list[PastTurn], limit: int = 2_000, **parts: Any) -> Prompt | None:
    whole = {"instructions": "", "task": "Pay", "given": "{}", "left": "", "remark": "", "tools": [], **parts}
    return build(turns=turns, fence=FENCE, limit=limit, **whole)


def turn(number: int, size: int = 10, *, untrusted: bool = False) -> PastTurn:
    return PastTurn(number, "", (PastCall("look", "{}", "x" * size, untrusted),))


def sizes(found: Prompt | None) -> list[tuple[int, int]]:
    assert found is not None
    return [(t.number, t.calls[0].observed.count("x")) for t in found.turns]


def test_the_last_three_turns_are_whole_and_older_ones_short() -> None:
    found = prompt([turn(n, 900) for n in range(1, 6)], limit=5_000)
    assert sizes(found) == [(1, 300), (2, 300), (3, 900), (4, 900), (5, 900)]


def test_what_does_not_fit_is_shortened_and_then_left_out_from_the_oldest() -> None:
    found = prompt([turn(n, 3_000) for n in range(1, 40)], limit=2_000)
    assert found is not None
    assert found.tokens <= 2_000
    assert sizes(found)[-1] == (39, 3_000)
    assert sizes(found)[-2][1] == 300
    missing = 39 - len(found.turns)
    assert found.now.startswith(f"Of 39 earlier turns the first {missing} are left out.")


@pytest.mark.parametrize("size", [10, 5_000])
def test_a_fence_stays_whole_however_short_its_text_becomes(size: int) -> None:
    found = prompt([turn(n, size, untrusted=True) for n in range(1, 8)], limit=2_500)
    assert found is not None
    for told in found.turns:
        assert told.calls[0].observed.startswith(f"<untrusted {FENCE}>\n")
        assert told.calls[0].observed.endswith(f"\n</untrusted {FENCE}>")


def test_a_last_turn_that_does_not_fit_even_short_is_said() -> None:
    many = PastTurn(1, "", tuple(PastCall("look", "{}", "y" * 500, untrusted=True) for _ in range(32)))
    assert prompt([many], limit=1_500) is None
    assert prompt([], limit=100) is None


def test_an_estimate_is_never_far_below_what_a_model_counts() -> None:
    assert tokens_of("a" * 400) > 100
    assert tokens_of("日本語" * 10) >= 30


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (ModelAnswer("Done.", (), "stop"), Finish),
        (ModelAnswer("Done.", (), ""), Finish),
        (ModelAnswer(" ", (), "stop"), Refusal),
        (ModelAnswer("Do", (), "length"), Refusal),
        (ModelAnswer("", (), "content_filter"), Refusal),
        (ModelAnswer("", (ToolUse("a", "{}"),), "length"), Refusal),
        (ModelAnswer("", (ToolUse("a", "{}"),), "tool_call"), Turn),
        (ModelAnswer("", (ToolUse("a", "{}"),), "stop"), Turn),
        (ModelAnswer("I look.", (ToolUse("a", "{}"),), "tool_call"), Turn),
        (ModelAnswer("Done.", (ToolUse("a", "{}"),), "stop"), Refusal),
        (ModelAnswer("", (ToolUse("a", "{}"),) * 33, "tool_call"), Refusal),
    ],
)
def test_an_answer_is_calls_or_an_end_and_nothing_between(answer: ModelAnswer, kind: type[Any]) -> None:
    assert isinstance(read_answer(answer), kind)
    assert stored_answer(answer.stored()) == answer


@pytest.mark.parametrize(
    ("text", "args", "fault"),
    [
        ("", {}, None),
        ('{"id": 9007199254740993}', {"id": 9007199254740993}, None),
        ('{"id": 0.10}', {"id": Decimal("0.1")}, None),
        ("[1]", [1], None),
        ("{", None, ""),
        ('{"a": NaN}', None, "/a"),
        ('{"a": 1, "a": 2}', None, "/a"),
        ('{"a": "\\ud800"}', None, "/a"),
    ],
)
def test_arguments_are_read_to_the_digit_or_refused_at_their_place(text: str, args: Any, fault: str | None) -> None:
    found = read_answer(ModelAnswer("Why", (ToolUse("a", text),), "tool_call"))
    assert isinstance(found, Turn)
    (proposal,) = found.proposals
    assert (proposal.args, proposal.why) == (args, "Why")
    refusal = proposal.fault
    assert (refusal and refusal.extra["errors"][0]["pointer"]) == fault


@pytest.mark.parametrize(
    ("changes", "pointer", "said"),
    [
        (None, "/model", "A model is needed"),
        ([], "/model", "dictionary"),
        ({"provider": "nobody"}, "/model/provider", "anthropic"),
        ({"name": ""}, "/model/name", "at least 1"),
        ({"name": "a\0"}, "/model/name", "U+0000"),
        ({"provider": "vllm"}, "/model/base_url", "where your vllm server is"),
        ({"base_url": "ftp://x"}, "/model/base_url", "http and https"),
        ({"base_url": "https://u:p@x.example"}, "/model/base_url", "user name"),
        ({"base_url": "https://x.example/v1?key=1"}, "/model/base_url", "without a query"),
        ({"max_output_tokens": 1}, "/model/max_output_tokens", "16"),
        ({"temperature": 3}, "/model/temperature", "2"),
        ({"context_tokens": 10}, "/model/context_tokens", "1000"),
        ({"seconds": 0}, "/model/seconds", "1"),
        ({"prices": {"input": "1"}}, "/model/prices/output", "needed"),
        ({"prices": {"input": -1, "output": 1}}, "/model/prices/input", "0"),
        ({"api_key": "sk"}, "/model/api_key", "remove it"),
    ],
)
def test_a_fault_of_a_model_is_named_by_its_place(changes: Any, pointer: str, said: str) -> None:
    model = {**MODEL, **changes} if isinstance(changes, dict) else changes
    found = faults_of(agent(planner="model", model=model))
    assert said in found[pointer]


def test_a_version_keeps_its_model_with_every_default(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = check_agent(agent(planner="model", model={**MODEL, "temperature": Decimal("0.2")}))
    kept: Any = parse(checked.fields["model"])
    assert kept["context_tokens"] == 32_000
    assert read_model(checked.fields["model"]) == checked.model
    assert read_model(checked.fields["model"]).where == "api.openai.com:443"


def test_a_model_counts_only_for_its_planner() -> None:
    assert "model" not in check_agent(agent(model={"nonsense": True})).fields
    with pytest.raises(InvalidAgent):
        check_agent(agent(planner="model"))


def test_every_provider_has_an_address_or_asks_for_one() -> None:
    for name, address in PROVIDERS.items():
        model = {"provider": name, "name": "m"} | ({} if address else {"base_url": "https://models.example/v1"})
        assert check_agent(agent(planner="model", model=model)).model is not None
