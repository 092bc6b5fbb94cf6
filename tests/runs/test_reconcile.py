"""People say what a call of unknown outcome really did."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.errors import PeopleOnly
from approvals.models import PolicyVersion
from runs.domain.errors import SaidAlready, TooEarlyToReconcile
from runs.models import Step, WorkItem
from runs.operations.reconciling import reconcile
from runs.sayings import Saying, sayings
from tests.runs.scenario import Stage

PAY: list[dict[str, Any]] = [{"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]
NOTE: list[dict[str, Any]] = [{"tool": "t_note", "args": {"text": "hello"}}]


def _two_people(stage: Stage) -> None:
    with tenant_transaction(stage.tenant_id):
        PolicyVersion.objects.create(
            tenant_id=stage.tenant_id, number=1, preset="careful", reconcile_quorum=2, created_at=timezone.now()
        )


def _unknown(stage: Stage, steps: list[dict[str, Any]] = PAY) -> tuple[UUID, UUID]:
    """A run whose only call was claimed by a worker that died; its run and its step."""
    run_id = stage.start(stage.agent("payer", steps), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    call = stage.claim_only(run_id)
    past = timezone.now() - timedelta(seconds=1)
    with tenant_transaction(stage.tenant_id):
        Step.objects.filter(id=call.step_id).update(lease_until=past)
    WorkItem.objects.filter(id=run_id).update(due_at=past)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["unknown"]
    return run_id, call.step_id


def test_a_destructive_call_is_settled_by_the_second_person_who_says_the_same(stage: Stage) -> None:
    _two_people(stage)
    run_id, step_id = _unknown(stage)
    first = reconcile(stage.cast.alice.actor, step_id, succeeded=True, evidence="on the statement")
    assert not first.settled
    assert stage.statuses(run_id) == ["unknown"]
    with pytest.raises(SaidAlready):
        reconcile(stage.cast.alice.actor, step_id, succeeded=True, evidence="still there")
    second = reconcile(stage.cast.carol.actor, step_id, succeeded=True, evidence="the bank confirms")
    assert second.settled
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"


def test_two_people_who_disagree_settle_nothing_until_two_agree(stage: Stage) -> None:
    _two_people(stage)
    run_id, step_id = _unknown(stage)
    reconcile(stage.cast.alice.actor, step_id, succeeded=True, evidence="I think so")
    with pytest.raises(TooEarlyToReconcile):
        reconcile(stage.cast.carol.actor, step_id, succeeded=False, evidence="nothing there")
    assert [s.outcome for s in _said(stage, run_id, step_id)] == ["succeeded"]
    assert stage.statuses(run_id) == ["unknown"]


def test_a_service_cannot_be_one_of_the_two_people(stage: Stage) -> None:
    _two_people(stage)
    run_id, step_id = _unknown(stage)
    with pytest.raises(PeopleOnly):
        reconcile(stage.cast.service.actor, step_id, succeeded=True, evidence="the log says so")
    assert stage.statuses(run_id) == ["unknown"]


def test_a_write_needs_one_person_even_there(stage: Stage) -> None:
    _two_people(stage)
    run_id, step_id = _unknown(stage, NOTE)
    assert reconcile(stage.cast.alice.actor, step_id, succeeded=True, evidence="it is there").settled
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"


def _said(stage: Stage, run_id: UUID, step_id: UUID) -> list[Saying]:
    with tenant_transaction(stage.tenant_id):
        return list(sayings(stage.tenant_id, run_id, step_id))
