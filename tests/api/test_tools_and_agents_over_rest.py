"""Programs register, change and try tools, and save agents."""

from typing import Any

import pytest

from tests.api.conftest import Caller
from tests.runs.scenario import Stage

LOOK = {
    "name": "look_up",
    "description": "Looks something up.",
    "kind": "http",
    "risk": "read",
    "required_scope": "ledger:read",
    "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "http": {"method": "GET", "url": "https://example.com/items/{args.id}"},
}


def test_a_tool_is_registered_changed_and_keeps_its_versions(service: Caller) -> None:
    made = service.post("/tools", LOOK)
    assert made.status_code == 201, made.content
    assert (made.json()["version"], made.json()["enabled"]) == (1, True)
    changed = service.patch("/tools/look_up", {"title": "Look up", "revision": made.json()["revision"]})
    assert (changed.json()["version"], changed.json()["title"]) == (2, "Look up")
    assert changed.json()["content_hash"] != made.json()["content_hash"]
    versions = service.get("/tools/look_up/versions?limit=1").json()
    assert [row["version"] for row in versions["results"]] == [2]
    older = service.get("/tools" + versions["next"].split("/tools", 1)[1]).json()
    assert [row["version"] for row in older["results"]] == [1]
    assert older["next"] is None
    stale = service.patch("/tools/look_up", {"enabled": False, "revision": made.json()["revision"]})
    assert (stale.status_code, stale.json()["code"]) == (409, "tool_moved")
    assert service.patch("/tools/look_up", {"enabled": False}).json()["enabled"] is False


def test_a_wrong_definition_names_each_place(service: Caller) -> None:
    answer = service.post("/tools", {**LOOK, "timeout_ms": 0, "surprise": True, "input_schema": {"type": "nonsense"}})
    assert answer.status_code == 400, answer.content
    places = {error["pointer"] for error in answer.json()["errors"]}
    assert places & {"/timeout_ms", "/surprise", "/input_schema/type"}
    assert service.get("/tools/look_up").status_code == 404


def test_a_name_is_taken_once_and_never_changed(service: Caller) -> None:
    service.post("/tools", LOOK)
    assert service.post("/tools", LOOK).status_code == 409
    assert service.patch("/tools/look_up", {"name": "other"}).json()["code"] == "tool_renamed"


def test_another_tenant_has_no_such_tool(service: Caller, mallory: Caller) -> None:
    service.post("/tools", LOOK)
    for path in ("/tools/look_up", "/tools/look_up/versions", "/tools/%00"):
        assert mallory.get(path).status_code == 404


@pytest.mark.usefixtures("stage")
def test_a_try_names_faults_runs_reads_and_only_shows_changes(stage: Stage, service: Caller) -> None:
    wrong = service.post("/tools/t_read/dry-run", {"args": {}}).json()
    assert wrong["errors"]
    assert wrong["outcome"] is None
    read = service.post("/tools/t_read/dry-run", {"args": {"account": stage.account}}).json()
    assert (read["outcome"], read["result"]["status"]) == ("succeeded", "open")
    pay = service.post("/tools/t_pay/dry-run", {"args": {"account": stage.account, "amount": "5"}}).json()
    assert pay["would_send"]["summary"] == f"Pay 5 to {stage.account}"
    assert stage.world.paid == []


def test_an_agent_is_saved_changed_and_started(service: Caller) -> None:
    agent: dict[str, Any] = {"slug": "looker", "name": "Looker", "planner": "external", "tools": ["t_read"]}
    made = service.post("/agents", {**agent, "budget": {"steps": 3}})
    assert made.status_code == 201, made.content
    changed = service.patch("/agents/looker", {"name": "Onlooker"}).json()
    assert (changed["name"], changed["budget"], changed["tools"]) == ("Onlooker", {"steps": 3}, ["t_read"])
    assert service.post("/runs", {"agent": "looker", "task": "x", "budget": {"steps": 4}}).json()["code"] == (
        "budget_above_limit"
    )
    assert service.post("/runs", {"agent": "looker", "task": "x"}).status_code == 201


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"budget": {"steps": "many"}}, "/budget/steps"), ({"planner": "magic"}, "/planner"), ({"slug": "A B"}, "/slug")],
)
def test_a_broken_agent_is_refused_by_its_place(service: Caller, change: dict[str, Any], pointer: str) -> None:
    agent = {"slug": "broken", "name": "Broken", "planner": "external", "tools": [], **change}
    answer = service.post("/agents", agent)
    assert answer.status_code == 400, answer.content
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]
