"""An outside agent's turns: one at a time, once for one key, by one principal."""

from typing import Any
from uuid import UUID

import pytest

from agentops.tenancy.keys import create_key
from tests.api.conftest import Caller
from tests.api.problems import assert_problem
from tests.cast import new_service
from tests.runs.scenario import Stage
from tools.domain.canonical import parse


@pytest.fixture
def run_id(stage: Stage, service: Caller) -> str:
    """An external run of the service's."""
    made = service.post("/runs", {"agent": stage.external(budget={"tokens": 100}), "task": "Look"})
    found: str = made.json()["id"]
    return found


def _read(stage: Stage, **more: Any) -> dict[str, Any]:
    return {"proposals": [{"kind": "tool", "tool": "t_read", "args": {"account": stage.account}}], **more}


def _pay(stage: Stage, again: int = 0) -> dict[str, Any]:
    args = {"account": stage.account, "amount": "5"}
    return {"proposals": [{"kind": "tool", "tool": "t_pay_plain", "args": args, "again": again}]}


def _finish(text: str = "Done.") -> dict[str, Any]:
    return {"proposals": [{"kind": "finish", "answer": text}]}


def test_a_retry_is_answered_with_the_turn_it_made(stage: Stage, service: Caller, run_id: str) -> None:
    path, key = f"/runs/{run_id}/proposals", {"Idempotency-Key": "turn-1"}
    first = service.post(path, _read(stage, turn=1), **key)
    again = service.raw("post", path, f'{{"turn": 1, "proposals": {_spaced(stage)}}}', **key)
    assert (first.status_code, again.status_code) == (201, 200), again.content
    assert first.json()["steps"] == again.json()["steps"]
    assert_problem(service.post(path, _read(stage, turn=2), **key), 422, "idempotency_mismatch")
    stage.work(UUID(run_id))
    late = service.post(path, _read(stage, turn=1), **key).json()
    assert (late["turn"], late["steps"][0]["status"]) == (1, "succeeded")
    assert service.get(f"/runs/{run_id}").json()["turns"] == 1


def test_another_turn_waits_for_the_open_one_and_names_where_the_run_is(
    stage: Stage, service: Caller, run_id: str
) -> None:
    path = f"/runs/{run_id}/proposals"
    assert assert_problem(service.post(path, _read(stage, turn=2)), 409, "turn_moved")["turn"] == 1
    steps = service.post(path, _pay(stage)).json()["steps"]
    assert steps[0]["status"] == "held"
    assert assert_problem(service.post(path, _read(stage)), 409, "turn_open")["open_steps"] == [steps[0]["id"]]
    assert_problem(service.post(path, _read(stage, turn=1)), 409, "turn_moved")
    assert_problem(service.post(path, _finish()), 409, "turn_open")


def test_a_finish_stands_alone_and_has_no_steps(stage: Stage, service: Caller, run_id: str) -> None:
    path = f"/runs/{run_id}/proposals"
    mixed = {"proposals": [*_read(stage)["proposals"], *_finish()["proposals"]]}
    assert_problem(service.post(path, mixed), 400, "planner_invalid")
    assert service.get(f"/runs/{run_id}/steps").json()["results"] == []
    service.post(path, _read(stage))
    stage.work(UUID(run_id))
    done = service.post(path, _finish("It is open."))
    assert (done.status_code, done.json()["steps"], done.json()["run"]["status"]) == (201, [], "succeeded")
    assert_problem(service.post(path, _finish()), 409, "run_finished")


def test_only_the_principal_that_started_the_run_proposes(
    stage: Stage, service: Caller, run_id: str, alice: Caller, mallory: Caller
) -> None:
    path, cast = f"/runs/{run_id}/proposals", stage.cast
    assert_problem(Caller(new_service(cast.carol, "other").raw_key).post(path, _read(stage)), 403, "not_the_principal")
    plain = create_key(cast.alice.actor, name="plain", scopes=["runs:read", "runs:write"])
    assert_problem(Caller(plain.raw).post(path, _read(stage)), 403, "not_the_principal")
    assert_problem(alice.post(path, _read(stage)), 403, "not_for_agents")
    assert_problem(mallory.post(path, _read(stage)), 403, "not_for_agents")
    assert_problem(Caller(cast.other_service.raw_key).post(path, _read(stage)), 404, "not_found")
    assert stage.steps(UUID(run_id)) == []


def test_the_same_mutation_is_done_twice_only_when_that_is_said(stage: Stage, service: Caller, run_id: str) -> None:
    path, run = f"/runs/{run_id}/proposals", UUID(run_id)
    service.post(path, _pay(stage))
    stage.approve(run)
    stage.work(run)
    (refused,) = service.post(path, _pay(stage)).json()["steps"]
    assert (refused["status"], refused["refusal"]["code"]) == ("refused", "repeated_action")
    (wanted,) = service.post(path, _pay(stage, again=1)).json()["steps"]
    assert wanted["status"] == "held"
    assert wanted["fingerprint"] != refused["fingerprint"]
    stage.approve(run)
    stage.work(run)
    assert len({key for _, _, key in stage.world.paid}) == 2


def test_what_the_planner_used_counts_and_is_in_the_log(stage: Stage, service: Caller, run_id: str) -> None:
    usage = {"input_tokens": 60, "output_tokens": 20, "cost": "0.0123"}
    service.post(f"/runs/{run_id}/proposals", _read(stage, usage=usage))
    run = stage.run(UUID(run_id))
    (told,) = [e for e in stage.events(run.id) if e.kind == "usage"]
    assert parse(told.data) == usage
    stage.work(run.id)
    over = service.post(f"/runs/{run_id}/proposals", _read(stage, usage={"input_tokens": 21})).json()["run"]
    assert (over["status"], over["terminal_reason"], over["budget"]["used"]["tokens"]) == (
        "exhausted", "token_budget", 101,
    )  # fmt: skip


def _spaced(stage: Stage) -> str:
    return f'[ {{ "args": {{"account": "{stage.account}"}}, "tool": "t_read", "kind": "tool" }} ]'
