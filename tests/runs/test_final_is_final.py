"""A run that has ended stays ended: no operation, late message, sweep or SQL of the application resumes it."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import connection
from django.db.utils import DatabaseError

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.domain.errors import AlreadyDecided
from runs import sweeps
from runs.domain.errors import NotUnknown, RunFinished
from runs.domain.planning import Finish
from runs.domain.run import OPEN
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.operations.deciding import decide
from runs.operations.rechecking import recheck
from runs.operations.reconciling import reconcile
from tests.runs.scenario import Stage


def _succeeded(stage: Stage, run_id: UUID) -> None:
    stage.approve(run_id)
    stage.work(run_id)
    stage.propose(run_id, Finish("done"))


def _failed(stage: Stage, run_id: UUID) -> None:
    stage.reject(run_id, then=Then.STOP)


def _cancelled(stage: Stage, run_id: UUID) -> None:
    cancel(stage.cast.alice.actor, run_id)


def _exhausted(stage: Stage, run_id: UUID) -> None:
    stage.reject(run_id)
    stage.propose(run_id, stage.pay("6"))
    stage.reject(run_id)
    stage.propose(run_id, stage.pay("7"))


@pytest.mark.parametrize("ends", [_succeeded, _failed, _cancelled, _exhausted], ids=lambda e: e.__name__.strip("_"))
def test_nothing_resumes_what_has_ended(stage: Stage, ends: Callable[[Stage, UUID], None]) -> None:
    run_id = stage.outside(budget={"steps": 2})
    stage.propose(run_id, stage.pay())
    request = stage.pending(run_id)
    ends(stage, run_id)
    before = stage.run(run_id)
    assert (before.status, before.finished_at is None) == (ends.__name__.strip("_"), False)
    alice, bob, (step, *_) = stage.cast.alice.actor, stage.cast.bob.actor, stage.steps(run_id)
    with pytest.raises(RunFinished):
        cancel(alice, run_id)
    for proposal in (stage.pay("8"), Finish("no")):
        with pytest.raises(RunFinished):
            stage.propose(run_id, proposal)
    for verdict in (Verdict.APPROVE, Verdict.REJECT):
        with pytest.raises(AlreadyDecided):
            decide(alice, request.id, verdict=verdict, digest=request.digest)
    with pytest.raises(AlreadyDecided):
        recheck(bob, request.id)
    with pytest.raises(NotUnknown):
        reconcile(alice, step.id, succeeded=True, evidence="no")
    stage.is_due(run_id)
    sweeps.sweep()
    stage.work(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7())
    for status in sorted(OPEN):
        with pytest.raises(DatabaseError), tenant_transaction(stage.tenant_id), connection.cursor() as cursor:
            cursor.execute("UPDATE runs_run SET status = %s WHERE id = %s", [status.value, run_id])
    after = stage.run(run_id)
    assert (after.head, after.status, after.used, after.reserved) == (
        before.head,
        before.status,
        before.used,
        before.reserved,
    )
    assert len(stage.world.paid) == (1 if ends is _succeeded else 0)
