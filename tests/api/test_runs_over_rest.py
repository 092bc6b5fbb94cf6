"""Programs start, watch and cancel runs, and every refusal is a problem document."""

import json
from pathlib import Path
from typing import Any

import pytest

from runs.operations.budgeting import set_team_budget
from tests.api.conftest import Caller
from tests.api.problems import assert_problem
from tests.runs.scenario import Stage

CASES = json.loads((Path(__file__).parent.parent / "cases" / "http.json").read_text())
PAY = [{"tool": "t_pay", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]


def test_a_run_is_started_read_and_listed(stage: Stage, service: Caller) -> None:
    slug = stage.agent("payer", PAY)
    made = service.post("/runs", {"agent": slug, "task": "Pay", "input": {"account": stage.account}})
    assert made.status_code == 201, made.content
    run = made.json()
    assert run["status"] == "planning"
    assert run["budget"]["limit"]["steps"] == 20
    assert service.get(f"/runs/{run['id']}").json()["id"] == run["id"]
    listed = service.get("/runs?limit=1").json()
    assert listed["results"][0]["id"] == run["id"]
    assert listed["count"] == 1


def test_the_trace_of_the_caller_is_kept(stage: Stage, service: Caller) -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    body = {"agent": stage.agent("payer", PAY), "task": "Pay", "input": {"account": stage.account}}
    run = service.post("/runs", body, traceparent=parent).json()
    assert stage.run(run["id"]).traceparent == parent


def test_a_run_that_says_nothing_has_the_limits_of_its_team(stage: Stage, service: Caller) -> None:
    set_team_budget(stage.cast.carol.actor, {"steps": 9, "money": {"amount": "100.00", "currency": "EUR"}})
    made = service.post("/runs", {"agent": stage.agent("payer", PAY), "task": "Pay"})
    assert made.status_code == 201, made.content
    limit = {"steps": 9, "tool_calls": 40, "seconds": 86_400, "money": {"amount": "100.00", "currency": "EUR"}}
    assert made.json()["budget"]["limit"] == limit
    above = service.post("/runs", {"agent": "payer", "task": "Pay", "budget": {"steps": 10}})
    assert_problem(above, 400, "budget_above_limit")


def test_the_same_start_twice_is_one_run_and_another_body_is_a_mismatch(stage: Stage, service: Caller) -> None:
    slug = stage.agent("payer", PAY)
    body = {"agent": slug, "task": "Pay", "input": {"account": stage.account}}
    key = {"Idempotency-Key": "k-1"}
    first, second = service.post("/runs", body, **key), service.post("/runs", body, **key)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert_problem(service.post("/runs", {**body, "task": "Other"}, **key), 422, "idempotency_mismatch")


def test_a_request_is_read_decided_and_cannot_be_decided_twice(stage: Stage, service: Caller, bob: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), by=stage.cast.service.actor, given={"account": stage.account})
    stage.work(run_id)
    waiting = bob.get("/approvals?status=pending").json()["results"]
    (asked,) = [a for a in waiting if a["run"] == str(run_id)]
    assert asked["args"] == {"account": stage.account, "amount": "5"}
    assert asked["can_decide"] is True
    path = f"/approvals/{asked['id']}/decisions"
    assert_problem(service.post(path, {"verdict": "approve", "digest": asked["digest"]}), 403, "people_only")
    assert_problem(bob.post(path, {"verdict": "approve", "digest": "0" * 64}), 409, "digest_mismatch")
    assert_problem(
        bob.post(path, {"verdict": "edit", "digest": asked["digest"], "args": {}}), 422, "verdict_unsupported"
    )
    for verdict in (None, "", "yes", "false", True, "Approve"):
        assert_problem(bob.post(path, {"verdict": verdict, "digest": asked["digest"]}), 400, "invalid_request")
    done = bob.post(path, {"verdict": "approve", "digest": asked["digest"]})
    assert done.status_code == 201, done.content
    assert done.json()["status"] == "approved"
    twice = assert_problem(bob.post(path, {"verdict": "reject", "digest": asked["digest"]}), 409, "already_decided")
    assert twice["verdict"] == "approve"
    stage.work(run_id)
    assert service.get(f"/runs/{run_id}").json()["status"] == "succeeded"
    step = service.get(f"/runs/{run_id}/steps").json()["results"][0]
    assert [a["outcome"] for a in step["attempts"]] == ["succeeded"]
    assert len(stage.world.paid) == 1


def test_the_requester_meets_self_approval(stage: Stage, alice: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    request = stage.pending(run_id)
    answer = alice.post(f"/approvals/{request.id}/decisions", {"verdict": "approve", "digest": request.digest})
    assert_problem(answer, 403, "self_approval")
    assert stage.world.paid == []


def test_another_tenant_sees_nothing(stage: Stage, mallory: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    request = stage.pending(run_id)
    for path in (f"/runs/{run_id}", f"/runs/{run_id}/steps", f"/runs/{run_id}/events", f"/approvals/{request.id}"):
        assert_problem(mallory.get(path), 404, "not_found")
    decision = {"verdict": "approve", "digest": request.digest}
    assert_problem(mallory.post(f"/approvals/{request.id}/decisions", decision), 404)
    assert mallory.get("/runs").json()["results"] == []
    assert mallory.get("/approvals").json()["results"] == []


def test_cancelling_ends_a_waiting_run_and_a_finished_one_cannot_be_cancelled(stage: Stage, service: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    answer = service.post(f"/runs/{run_id}/cancel", {"reason": "changed my mind"})
    assert answer.status_code == 202, answer.content
    assert answer.json()["status"] == "cancelled"
    assert_problem(service.post(f"/runs/{run_id}/cancel", {"reason": "again"}), 409, "run_finished")
    assert [r.status for r in stage.requests(run_id)] == ["withdrawn"]


def test_an_outside_agent_proposes_reads_and_finishes(stage: Stage, service: Caller) -> None:
    made = service.post("/runs", {"agent": stage.external(), "task": "Look"})
    run_id = made.json()["id"]
    turn = {"proposals": [{"kind": "tool", "tool": "t_read", "args": {"account": stage.account}}]}
    answer = service.post(f"/runs/{run_id}/proposals", turn)
    assert answer.status_code == 201, answer.content
    assert answer.json()["steps"][0]["status"] == "cleared"
    assert_problem(service.post(f"/runs/{run_id}/proposals", turn), 409, "turn_open")
    stage.work(run_id)
    steps = service.get(f"/runs/{run_id}/steps").json()["results"]
    assert steps[0]["status"] == "succeeded"
    assert '"status":"open"' in steps[0]["observation"]["content"]
    finish = {"proposals": [{"kind": "finish", "answer": "It is open."}]}
    assert service.post(f"/runs/{run_id}/proposals", finish).status_code == 201
    assert service.get(f"/runs/{run_id}").json()["answer"] == "It is open."


@pytest.mark.parametrize("args", ['{"account":1e400}', '{"a":1,"a":2}', '{"a":"\\ud800"}', "[1]", '"text"'])
def test_faulty_arguments_are_a_refused_step_and_not_a_refused_request(
    stage: Stage, service: Caller, args: str
) -> None:
    run_id = service.post("/runs", {"agent": stage.external(), "task": "Look"}).json()["id"]
    body = f'{{"proposals":[{{"kind":"tool","tool":"t_read","args":{args}}}]}}'
    answer = service.raw("post", f"/runs/{run_id}/proposals", body)
    assert answer.status_code == 201, answer.content
    step = answer.json()["steps"][0]
    assert (step["status"], step["refusal"]["code"]) == ("refused", "invalid_arguments")


def test_events_are_a_list_and_the_last_one_seen_resumes(stage: Stage, service: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    rows = service.get(f"/runs/{run_id}/events").json()["results"]
    assert [r["seq"] for r in rows] == list(range(1, len(rows) + 1))
    assert service.get(f"/runs/{run_id}/events?after={rows[-2]['seq']}").json()["results"] == rows[-1:]


@pytest.mark.parametrize("case", CASES["bodies"], ids=lambda case: case["raw"][:40])
def test_each_bad_body_is_a_typed_problem(stage: Stage, service: Caller, case: dict[str, Any]) -> None:
    install = stage.agent("demo", PAY)
    assert install == "demo"
    assert_problem(service.raw("post", "/runs", case["raw"]), case["status"])


@pytest.mark.parametrize("case", CASES["content_types"], ids=lambda case: case["type"])
def test_other_content_types_are_refused(service: Caller, case: dict[str, Any]) -> None:
    assert_problem(service.raw("post", "/runs", "{}", content_type=case["type"]), case["status"])


@pytest.mark.parametrize("row", CASES["ids"])
def test_malformed_ids_name_nothing(service: Caller, row: str) -> None:
    assert_problem(service.get(f"/runs/{row}"), 404)


def test_a_huge_body_is_too_large(service: Caller) -> None:
    size = CASES["oversize"]["bytes"]
    assert_problem(service.raw("post", "/runs", '{"task":"' + "x" * size + '"}'), CASES["oversize"]["status"])


def test_without_a_key_the_answer_says_how_to_authenticate() -> None:
    answer = Caller("nonsense").get("/runs")
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_unknown_addresses_are_problems_and_the_document_is_served(service: Caller) -> None:
    assert_problem(service.get("/nothing/here"), 404)
    schema = service.get("/schema")
    assert schema.status_code == 200
    assert b"3.1" in schema.content[:40]
    assert service.get("/docs").status_code == 200
