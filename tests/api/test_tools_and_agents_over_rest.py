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


@pytest.mark.usefixtures("stage")
def test_an_agent_is_saved_changed_started_and_switched_off(service: Caller) -> None:
    agent: dict[str, Any] = {"slug": "looker", "name": "Looker", "planner": "external", "tools": ["t_read"]}
    made = service.post("/agents", {**agent, "budget": {"steps": 3}})
    assert (made.status_code, made.json()["version"]) == (201, 1), made.content
    changed = service.patch("/agents/looker", {"name": "Onlooker"}).json()
    assert (changed["name"], changed["budget"], changed["tools"]) == ("Onlooker", {"steps": 3}, ["t_read"])
    assert changed["version"] == 1
    assert service.post("/runs", {"agent": "looker", "task": "x", "budget": {"steps": 4}}).json()["code"] == (
        "budget_above_limit"
    )
    assert service.post("/runs", {"agent": "looker", "task": "x"}).status_code == 201
    assert service.patch("/agents/looker", {"budget": {"steps": 5}}).json()["version"] == 2
    assert service.patch("/agents/looker", {"enabled": False}).json()["enabled"] is False
    assert service.post("/runs", {"agent": "looker", "task": "x"}).json()["code"] == "unknown_agent"


@pytest.mark.usefixtures("stage")
def test_an_agent_with_a_model_is_saved_and_its_faults_have_places(service: Caller) -> None:
    model = {"provider": "vllm", "name": "own", "base_url": "https://models.example/v1", "temperature": 0.2}
    agent: dict[str, Any] = {"slug": "clerk", "name": "Clerk", "planner": "model", "tools": ["t_read"], "model": model}
    made = service.post("/agents", agent)
    assert made.status_code == 201, made.content
    assert made.json()["model"] == {
        **model, "context_tokens": 32000, "instructions": "", "max_output_tokens": 4096, "seconds": 120,
    }  # fmt: skip
    wrong = service.patch("/agents/clerk", {"model": {"provider": "nobody", "name": ""}})
    assert wrong.status_code == 400
    assert {e["pointer"] for e in wrong.json()["errors"]} == {"/model/provider", "/model/name"}
    assert service.patch("/agents/clerk", {"model": {**model, "seconds": 9}}).json()["version"] == 2
    assert service.patch("/agents/clerk", {"planner": "external"}).json()["model"] is None


def test_a_slug_is_taken_once_and_the_answer_says_how_to_change_it(service: Caller, mallory: Caller) -> None:
    agent: dict[str, Any] = {"slug": "looker", "name": "Looker", "planner": "external", "tools": []}
    assert service.post("/agents", agent).status_code == 201
    again = service.post("/agents", {**agent, "name": "Other"})
    assert (again.status_code, again.json()["code"]) == (409, "agent_exists")
    assert "PATCH /api/v1/agents/looker" in again.json()["hint"]
    assert service.get("/agents/looker").json()["name"] == "Looker"
    assert mallory.get("/agents/looker").status_code == 404


def test_only_a_key_with_the_scope_changes_what_agents_and_tools_are(bob: Caller, service: Caller) -> None:
    service.post("/agents", {"slug": "looker", "name": "Looker", "planner": "external", "tools": []})
    for answer in (
        bob.post("/agents", {"slug": "mine", "name": "Mine", "planner": "external", "tools": []}),
        bob.patch("/agents/looker", {"name": "Mine"}),
        bob.post("/tools", LOOK),
        bob.patch("/tools/look_up", {"title": "Mine"}),
        bob.post("/tools/look_up/dry-run"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert service.patch("/agents/nobody", {"name": "Mine"}).status_code == 404


def test_the_count_of_tools_is_of_those_that_match(service: Caller) -> None:
    for name in ("look_up", "look_down", "listen"):
        service.post("/tools", {**LOOK, "name": name, "description": "Something."})
    found = service.get("/tools?search=look_&limit=1").json()
    assert (found["count"], len(found["results"])) == (2, 1)
    assert service.get("/tools?search=nothing").json()["count"] == 0
    assert service.get("/tools").json()["count"] == 3
