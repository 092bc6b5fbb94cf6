"""Deciding over REST: what stands against a decision is said in one order, and nothing else happens."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from agentops.tenancy.ids import uuid7
from agentops.tenancy.keys import create_key
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest
from tests.api.conftest import Caller
from tests.api.problems import assert_problem
from tests.cast import new_person
from tests.runs.scenario import Stage

PAY = [{"tool": "t_pay", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]
APPROVE = {"verdict": "approve", "digest": "0" * 64}


@pytest.fixture
def asked(stage: Stage) -> ApprovalRequest:
    """A request that alice's run waits for, whose conditions were read some time ago."""
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    _age(stage, checked_at=timezone.now() - timedelta(minutes=1))
    return stage.pending(run_id)


def _age(stage: Stage, **moments: datetime) -> None:
    with tenant_transaction(stage.tenant_id):
        ApprovalRequest.objects.update(**moments)


def _expire(stage: Stage, asked: ApprovalRequest) -> None:
    _age(stage, expires_at=timezone.now() - timedelta(seconds=1))


def _reject(stage: Stage, asked: ApprovalRequest) -> None:
    stage.reject(asked.run_id)


def _change(stage: Stage, asked: ApprovalRequest) -> None:
    stage.world.amount = "13950.00"
    answer = Caller(stage.cast.bob.raw_key).post(f"/approvals/{asked.id}/recheck")
    assert answer.json()["preconditions"][0]["ok"] is False


def _nothing(stage: Stage, asked: ApprovalRequest) -> None:
    """The request is as it was."""


SITUATIONS = [_nothing, _reject, _expire, _change]
ORDERED: dict[Any, tuple[int, str]] = {
    _nothing: (409, "digest_mismatch"),
    _reject: (409, "already_decided"),
    _expire: (410, "expired"),
    _change: (409, "digest_mismatch"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_stands_against_a_decision_is_said_in_one_order(
    stage: Stage, asked: ApprovalRequest, situation: Callable[[Stage, ApprovalRequest], None]
) -> None:
    situation(stage, asked)
    cast = stage.cast
    viewer = new_person(cast.tenant, "vera", ["viewer"])
    account = cast.service.account.id
    blind = create_key(cast.carol.actor, name="blind", scopes=["runs:write"], service_account_id=account)
    for raw_key, refusal in (
        (cast.mallory.raw_key, (404, "not_found")),
        (cast.other_service.raw_key, (404, "not_found")),
        (cast.service.raw_key, (403, "people_only")),
        (blind.raw, (403, "people_only")),
        (viewer.raw_key, (403, "not_an_approver")),
        (cast.alice.raw_key, (403, "self_approval")),
        (cast.bob.raw_key, ORDERED[situation]),
    ):
        assert_problem(Caller(raw_key).post(f"/approvals/{asked.id}/decisions", APPROVE), *refusal)
    assert stage.world.paid == []


def test_mallory_cannot_tell_a_request_from_nothing(asked: ApprovalRequest, mallory: Caller) -> None:
    for path, body in ((f"/approvals/{asked.id}/decisions", APPROVE), (f"/approvals/{asked.id}/recheck", None)):
        elsewhere = path.replace(str(asked.id), str(uuid7()))
        assert mallory.post(path, body).content == mallory.post(elsewhere, body).content


def test_who_decided_what_and_when_is_told_to_the_next_one(stage: Stage, asked: ApprovalRequest, bob: Caller) -> None:
    stage.approve(asked.run_id, by=stage.cast.carol.actor)
    body = assert_problem(bob.post(f"/approvals/{asked.id}/decisions", APPROVE), 409, "already_decided")
    assert (body["decided_by"], body["verdict"]) == (stage.cast.carol.user.email, "approve")
    assert body["decided_at"].endswith("Z")


def test_conditions_are_not_read_twice_in_a_moment(asked: ApprovalRequest, bob: Caller, service: Caller) -> None:
    path = f"/approvals/{asked.id}/recheck"
    assert_problem(service.post(path), 403, "people_only")
    assert bob.post(path).status_code == 200
    again = bob.post(path)
    assert_problem(again, 429, "too_many_requests")
    assert 1 <= int(again["Retry-After"]) <= 60


def test_a_request_whose_last_check_failed_is_asked_again(stage: Stage, asked: ApprovalRequest, bob: Caller) -> None:
    _change(stage, asked)
    body = assert_problem(_approve(bob, asked.id), 409, "precondition_changed")
    fresh = bob.get(f"/approvals/{body['new_request']}").json()
    assert (fresh["status"], fresh["args"]) == ("pending", {"account": stage.account, "amount": "5"})
    assert fresh["preconditions"][0]["before"] == ["open", "13950.00"]
    old = bob.get(f"/approvals/{asked.id}").json()
    assert (old["status"], old["superseded_by"]) == ("superseded", fresh["id"])
    assert_problem(
        bob.post(f"/approvals/{fresh['id']}/decisions", {**APPROVE, "digest": asked.digest}), 409, "digest_mismatch"
    )
    assert _approve(bob, UUID(fresh["id"])).status_code == 201
    stage.work(asked.run_id)
    assert len(stage.world.paid) == 1


def test_a_change_found_at_the_claim_asks_again_and_runs_nothing(
    stage: Stage, asked: ApprovalRequest, bob: Caller
) -> None:
    stage.world.amount = "13950.00"
    decided = _approve(bob, asked.id)
    assert (decided.status_code, decided.json()["status"]) == (201, "approved")
    stage.work(asked.run_id)
    assert bob.get(f"/approvals/{asked.id}").json()["status"] == "superseded"
    fresh = stage.pending(asked.run_id)
    assert (str(fresh.supersedes), stage.world.paid) == (str(asked.id), [])


def test_a_rejection_that_stops_ends_the_run(stage: Stage, asked: ApprovalRequest, bob: Caller) -> None:
    body = {"verdict": "reject", "digest": asked.digest, "reason": "Wrong supplier.", "then": "stop"}
    done = bob.post(f"/approvals/{asked.id}/decisions", body)
    assert (done.status_code, done.json()["status"]) == (201, "rejected")
    run = bob.get(f"/runs/{asked.run_id}").json()
    assert (run["status"], run["terminal_reason"]) == ("failed", "approval_rejected")


def _approve(caller: Caller, request_id: UUID) -> Any:
    digest = caller.get(f"/approvals/{request_id}").json()["digest"]
    return caller.post(f"/approvals/{request_id}/decisions", {"verdict": "approve", "digest": digest})
