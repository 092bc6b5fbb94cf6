"""Approval came late: what changed meanwhile is caught at the claim, named, and nothing runs."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from agentops.tenancy.keys import revoke_key
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import ApiKey, Tenant
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest, PolicyVersion
from runs.models import WorkItem
from tests.runs.scenario import Stage
from tools.declare import declared
from tools.operations import install_specs, set_enabled

PAY = [{"tool": "t_pay", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]


def _disable(stage: Stage) -> None:
    set_enabled(stage.cast.carol.actor, "t_pay", enabled=False)


def _redescribe(stage: Stage) -> None:
    spec = declared()["t_pay"].spec
    install_specs(stage.tenant_id, [spec.model_copy(update={"description": "Pays differently."})], by="test")


def _narrow(stage: Stage) -> None:
    ApiKey.objects.filter(id=stage.cast.service.key.id).update(scopes=["runs:read", "runs:write", "ledger:read"])


def _revoke(stage: Stage) -> None:
    revoke_key(stage.cast.carol.actor, key_id=stage.cast.service.key.id)


def _suspend(stage: Stage) -> None:
    Tenant.objects.filter(id=stage.tenant_id).update(status=Tenant.SUSPENDED)


def _deny(stage: Stage) -> None:
    rule = {"name": "freeze", "when": "tool.risk == 'destructive'", "effect": "deny", "reason": "Payments are frozen."}
    _policy(stage, [rule])


def _policy(stage: Stage, rules: list[dict[str, Any]]) -> None:
    with tenant_transaction(stage.tenant_id):
        number = PolicyVersion.objects.count() + 1
        PolicyVersion.objects.create(
            tenant_id=stage.tenant_id,
            number=number,
            preset="careful",
            rules=json.dumps(rules),
            created_at=timezone.now(),
        )


def _waiting(stage: Stage) -> UUID:
    slug = stage.agent("payer", PAY)
    run_id = stage.start(slug, by=stage.cast.service.actor, given={"account": stage.account})
    stage.work(run_id)
    assert stage.statuses(run_id) == ["held"]
    return run_id


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_disable, "tool_denied"),
        (_redescribe, "schema_drift"),
        (_narrow, "tool_denied"),
        (_revoke, "tool_denied"),
        (_suspend, "tool_denied"),
        (_deny, "policy_denied"),
    ],
)
def test_each_change_is_caught_at_the_claim_and_named(stage: Stage, change: Callable[[Stage], None], code: str) -> None:
    run_id = _waiting(stage)
    stage.approve(run_id)
    change(stage)
    stage.work(run_id)
    (step,) = stage.steps(run_id)
    assert step.status == "refused"
    assert step.refusal is not None
    assert json.loads(step.refusal)["code"] == code
    assert stage.world.paid == []
    assert stage.run(run_id).status == "failed"


def test_a_vote_of_a_member_since_removed_does_not_count(stage: Stage) -> None:
    run_id = _waiting(stage)
    stage.approve(run_id)
    remove_member(stage.cast.carol.actor, user_id=stage.cast.bob.user.id)
    stage.work(run_id)
    assert stage.world.paid == []
    assert [r.status for r in stage.requests(run_id)] == ["superseded", "pending"]


def test_a_vote_of_somebody_who_may_no_longer_decide_does_not_count(stage: Stage) -> None:
    run_id = _waiting(stage)
    stage.approve(run_id)
    set_roles(stage.cast.carol.actor, user_id=stage.cast.bob.user.id, roles=["viewer"])
    stage.work(run_id)
    assert stage.world.paid == []
    assert stage.statuses(run_id) == ["held"]


def test_a_policy_that_now_asks_two_people_asks_again(stage: Stage) -> None:
    run_id = _waiting(stage)
    stage.approve(run_id)
    _policy(stage, [{"name": "two", "when": "true", "effect": "require_approval", "quorum": 2}])
    stage.work(run_id)
    assert stage.world.paid == []
    assert stage.pending(run_id).quorum == 2
    stage.approve(run_id)
    assert stage.statuses(run_id) == ["held"], "one of two is not enough"
    stage.approve(run_id, by=stage.cast.alice.actor)
    stage.work(run_id)
    assert len(stage.world.paid) == 1


def test_an_unanswered_request_expires_by_the_databases_clock(stage: Stage) -> None:
    run_id = _waiting(stage)
    with tenant_transaction(stage.tenant_id):
        ApprovalRequest.objects.filter(run_id=run_id).update(expires_at=timezone.now() - timedelta(seconds=1))
    WorkItem.objects.filter(id=run_id).update(due_at=timezone.now() - timedelta(seconds=1))
    stage.work(run_id)
    assert stage.statuses(run_id) == ["expired"]
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "approval_expired")
