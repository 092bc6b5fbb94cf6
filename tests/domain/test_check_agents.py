"""A broken agent is refused when it is saved: each fault has its place and says what to do."""

from typing import Any

import pytest

from runs.domain.agent import check_agent, surroundings
from runs.domain.errors import InvalidAgent
from runs.domain.script import read_playbook
from tools.domain.canonical import canonical
from tools.domain.spec import ToolSpec

LOOK: dict[str, Any] = {
    "name": "look", "description": "Looks.", "kind": "python", "risk": "read", "required_scope": "ledger:read",
    "input_schema": {"type": "object"}, "python": {"function": "look"},
}  # fmt: skip
PAY = {**LOOK, "name": "pay", "cost": {"money": {"amount": "1", "currency": "EUR"}}}
TOOLS = {raw["name"]: ToolSpec.model_validate(raw) for raw in (LOOK, PAY)}


def agent(**changes: Any) -> dict[str, Any]:
    whole = {"slug": "clerk", "name": "Clerk", "planner": "playbook", "tools": ["look", "pay"], "playbook": script()}
    return {**whole, **changes}


def script(*steps: dict[str, Any], answer: str = "Done.") -> dict[str, Any]:
    return {"steps": [{"tool": "look", **step} for step in steps], "answer": answer}


def faults_of(definition: dict[str, Any]) -> dict[str, str]:
    try:
        found = surroundings(check_agent(definition), TOOLS)
    except InvalidAgent as error:
        return {fault["pointer"]: fault["detail"] for fault in error.details["errors"]}
    return {fault.pointer: fault.detail for fault in found}


@pytest.mark.parametrize(
    ("changes", "pointer", "said"),
    [
        ({"slug": "A B"}, "/slug", "pattern"),
        ({"name": ""}, "/name", "at least 1"),
        ({"name": "a\0b"}, "/name", "U+0000"),
        ({"planner": "magic"}, "/planner", "playbook"),
        ({"surprise": 1}, "/surprise", "remove it"),
        ({"tools": ["look", "gone"]}, "/tools/1", "register it first"),
        ({"playbook": None}, "/playbook", "A playbook is needed"),
        ({"playbook": []}, "/playbook", "dictionary"),
        ({"playbook": {"steps": [{}]}}, "/playbook/steps/0/tool", "needed"),
        ({"playbook": {"steps": [{"parallel": []}]}}, "/playbook/steps/0/parallel", "at least 1"),
        ({"playbook": {"steps": [{"parallel": [{"tool": "B"}]}]}}, "/playbook/steps/0/parallel/0/tool", "pattern"),
        ({"playbook": script({"tool": "gone"})}, "/playbook/steps/0/tool", "add it to its tools"),
        ({"playbook": script({"when": "input."})}, "/playbook/steps/0/when", "Syntax error"),
        ({"playbook": script({"when": "inputs.x"})}, "/playbook/steps/0/when", "known are input, task"),
        ({"playbook": script({"when": "item.x"})}, "/playbook/steps/0/when", "no “item”"),
        ({"playbook": script({"args": {"a/b": [{"$cel": "1 +"}]}})}, "/playbook/steps/0/args/a~1b/0/$cel", "Syntax"),
        ({"playbook": script({"args": {"x": {"$cel": "found.x"}}}, {"save_as": "found"})},
         "/playbook/steps/0/args/x/$cel", "no “found”"),
        ({"playbook": {"steps": [{"parallel": [{"tool": "look", "save_as": "a"},
                                               {"tool": "look", "when": "a.ok"}]}]}},
         "/playbook/steps/0/parallel/1/when", "no “a”"),
        ({"playbook": script({"for_each": "42"})}, "/playbook/steps/0/for_each", "never a list"),
        ({"playbook": script({"for_each": "task"})}, "/playbook/steps/0/for_each", "never a list"),
        ({"playbook": script({"for_each": "[1][5]"})}, "/playbook/steps/0/for_each", "never a list"),
        ({"playbook": script({"for_each": "input.lines["})}, "/playbook/steps/0/for_each", "ERROR"),
        ({"playbook": {"steps": [{"parallel": [{"tool": "look", "for_each": "input.x"}]}]}},
         "/playbook/steps/0/parallel/0/for_each", "step of its own"),
        ({"playbook": script({"save_as": "input"})}, "/playbook/steps/0/save_as", "another name"),
        ({"playbook": script({"save_as": "Not A Name"})}, "/playbook/steps/0/save_as", "pattern"),
        ({"playbook": script({"on_error": "retry"})}, "/playbook/steps/0/on_error", "stop"),
        ({"playbook": script(answer="{nothing.here}")}, "/playbook/answer", "must begin with"),
        ({"playbook": script(answer="{")}, "/playbook/answer", "lone brace"),
        ({"budget": []}, "/budget", "dictionary"),
        ({"budget": {"steps": -1}}, "/budget/steps", "greater than or equal to 1"),
        ({"budget": {"steps": 10**6}}, "/budget/steps", "less than or equal to 1000"),
        ({"budget": {"steps": "many"}}, "/budget/steps", "integer"),
        ({"budget": {"euros": 3}}, "/budget/euros", "not known"),
        ({"budget": {"money": {"amount": "-1", "currency": "EUR"}}}, "/budget/money/amount", "greater than"),
        ({"budget": {"money": {"amount": "1", "currency": "euro"}}}, "/budget/money/currency", "pattern"),
        ({"budget": {"money": {"amount": "1", "currency": "USD"}}}, "/budget/money/currency", "in EUR"),
        ({"budget": {"money": {"amount": "1"}}}, "/budget/money/currency", "needed"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_its_place_and_remedy(changes: dict[str, Any], pointer: str, said: str) -> None:
    found = faults_of(agent(**changes))
    assert pointer in found
    assert said in found[pointer]


def test_every_fault_is_said_at_once() -> None:
    wrong = agent(slug="A", budget={"steps": 0}, playbook=script({"when": "nobody", "save_as": "task"}))
    assert set(faults_of(wrong)) == {
        "/slug", "/budget/steps", "/playbook/steps/0/when", "/playbook/steps/0/save_as",
    }  # fmt: skip


@pytest.mark.parametrize(
    "step",
    [
        {"for_each": "input.lines", "args": {"x": {"$cel": "item.x"}}, "when": "item.x > 1"},
        {"for_each": "[1, 2].filter(n, n > 1)", "args": {"x": {"$cel": "item"}}},
        {"for_each": "input.lines.map(line, line.id + task)"},
        {"when": "type(input.x) == int && has(input.y) && input.list.exists(one, one == '.map(two, 3)')"},
        {"args": {"x": {"$literal": {"$cel": "not read"}}}},
    ],
)
def test_what_makes_sense_is_accepted(step: dict[str, Any]) -> None:
    assert faults_of(agent(playbook=script(step))) == {}


def test_an_external_planner_needs_no_playbook_and_keeps_none() -> None:
    checked = check_agent(agent(planner="external", playbook={"nonsense": True}))
    assert checked.fields["playbook"] == ""


def test_a_version_is_named_by_what_it_holds() -> None:
    one, other = check_agent(agent()), check_agent(agent(tools=["pay", "look"], name="Another name"))
    assert one.content_hash == other.content_hash
    assert one.content_hash != check_agent(agent(tools=["look"])).content_hash


def test_a_stored_playbook_that_became_wrong_is_refused_when_it_is_read() -> None:
    with pytest.raises(InvalidAgent) as caught:
        read_playbook(canonical(script({"when": "1 +"})))
    assert caught.value.details["errors"][0]["pointer"] == "/playbook/steps/0/when"
