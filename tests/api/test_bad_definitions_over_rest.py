"""What is wrong with an agent or a tool is refused when it is saved: 400, each fault with its pointer and a remedy."""

from typing import Any

import pytest

from tests.api.conftest import Caller
from tests.api.test_tools_and_agents_over_rest import LOOK

AGENT: dict[str, Any] = {"slug": "clerk", "name": "Clerk", "planner": "playbook", "tools": ["look_up", "send_it"]}
SEND = {**LOOK, "name": "send_it", "risk": "write", "http": {"method": "POST", "url": "https://example.com/items"},
        "cost": {"money": {"amount": "1", "currency": "EUR"}}}  # fmt: skip
PROBE = {"tool": "look_up", "args": {"id": "1"}}


def playbook(**step: Any) -> dict[str, Any]:
    return {"playbook": {"steps": [{"tool": "look_up", **step}]}}


def condition(**changes: Any) -> dict[str, Any]:
    return {"preconditions": [{"name": "unchanged", "probe": PROBE, **changes}]}


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        ({"planner": "magic"}, "/planner", "'playbook'"),
        ({"slug": "A B"}, "/slug", "pattern"),
        ({}, "/playbook", "is needed"),
        ({"planner": "external", "tools": ["look_up", "gone"]}, "/tools/1", "register it first"),
        (playbook(tool="gone"), "/playbook/steps/0/tool", "add it to its tools"),
        (playbook(when="input."), "/playbook/steps/0/when", "Syntax error"),
        (playbook(for_each="'text'"), "/playbook/steps/0/for_each", "never a list"),
        (playbook(args={"id": {"$cel": "found.id"}}), "/playbook/steps/0/args/id/$cel", "known are input, task"),
        ({"planner": "external", "budget": {"steps": "many"}}, "/budget/steps", "integer"),
        ({"planner": "external", "budget": {"steps": -1}}, "/budget/steps", "greater than or equal to 1"),
        ({"planner": "external", "budget": {"tool_calls": 10**9}}, "/budget/tool_calls", "less than or equal"),
        ({"planner": "external", "budget": {"euros": 1}}, "/budget/euros", "not known"),
        ({"planner": "external", "budget": {"money": {"amount": "1", "currency": "USD"}}},
         "/budget/money/currency", "in EUR"),
    ],
)  # fmt: skip
def test_a_broken_agent_is_refused_by_its_place(
    service: Caller, change: dict[str, Any], pointer: str, said: str
) -> None:
    for tool in (LOOK, SEND):
        assert service.post("/tools", tool).status_code == 201
    answer = service.post("/agents", {**AGENT, **change})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    found = {error["pointer"]: error["detail"] for error in answer.json()["errors"]}
    assert said in found[pointer]
    assert service.get("/agents/clerk").status_code == 404


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        ({"timeout_ms": 0}, "/timeout_ms", "greater than or equal to 1"),
        ({"surprise": True}, "/surprise", "not known"),
        ({"risk": "none"}, "/risk", "'read'"),
        ({"kind": "mcp"}, "", "cannot run here yet"),
        ({"input_schema": {"type": "nonsense"}}, "/input_schema/type", ""),
        ({"input_schema": {"type": "array"}}, "/input_schema/type", '"type": "object"'),
        ({"input_schema": {"type": "object", "$ref": "https://x.example/"}}, "/input_schema/$ref", "inside"),
        ({"output_schema": {"type": 3}}, "/output_schema/type", ""),
        (condition(probe={**PROBE, "tool": "send_it"}), "/preconditions/0/probe/tool", "not a read"),
        (condition(probe={**PROBE, "tool": "gone"}), "/preconditions/0/probe/tool", "no tool named"),
        (condition(select="a["), "/preconditions/0/select", ""),
        (condition(expect="before =="), "/preconditions/0/expect", "Syntax error"),
        (condition(expect="later == now"), "/preconditions/0/expect", "known are args, before, now"),
        (condition(probe={"tool": "look_up", "args": {"id": {"$cel": "input.id"}}}),
         "/preconditions/0/probe/args/id/$cel", "known are args"),
        (condition(on_change="shrug"), "/preconditions/0/on_change", "'ask_again'"),
        ({"http": {"url": "ftp://example.com/"}}, "/http/url", ""),
        ({"approval_summary": "Pay {amount}"}, "/approval_summary", "must begin with"),
        ({"cost": {"money": {"amount": "-1", "currency": "EUR"}}}, "/cost/money/amount", ""),
        ({"credential": "missing"}, "/credential", ""),
    ],
)  # fmt: skip
def test_a_broken_tool_is_refused_by_its_place(
    service: Caller, change: dict[str, Any], pointer: str, said: str
) -> None:
    for tool in (LOOK, SEND):
        assert service.post("/tools", tool).status_code == 201
    answer = service.post("/tools", {**LOOK, "name": "new_one", **change})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    found = {error["pointer"]: error["detail"] for error in answer.json()["errors"]}
    near = [place for place in found if place.startswith(pointer)]
    assert near, found
    assert said in found[near[0]]
    assert found[near[0]]
    assert service.get("/tools/new_one").status_code == 404
