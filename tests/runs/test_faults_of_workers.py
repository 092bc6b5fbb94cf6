"""Workers that die, come back late, or are told to stop."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, connections
from django.db.utils import DatabaseError
from django.utils import timezone

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs import execution
from runs.domain.errors import NotUnknown, RunFinished
from runs.models import Attempt, Run, Step, WorkItem
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.operations.reconciling import reconcile
from runs.operations.settling import Settled
from tests.runs.scenario import Stage
from tools.domain.outcome import NotSent, Succeeded, ToolError

PAY = [{"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]
READ = [{"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}]


def _lease_ends(stage: Stage, run_id: UUID) -> None:
    """As if the lease's time had passed."""
    with tenant_transaction(stage.tenant_id):
        Step.objects.filter(run_id=run_id, status="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    WorkItem.objects.filter(id=run_id).update(due_at=timezone.now() - timedelta(seconds=1))


def _approved(stage: Stage) -> UUID:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    return run_id


def test_a_mutation_whose_worker_died_is_unknown_and_never_made_twice(stage: Stage) -> None:
    run_id = _approved(stage)
    stage.claim_only(run_id)
    _lease_ends(stage, run_id)
    stage.work(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["unknown"]
    assert stage.run(run_id).status == "observing"
    assert stage.world.paid == []


def test_a_read_whose_worker_died_is_made_again_and_completes(stage: Stage) -> None:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    stage.claim_only(run_id)
    _lease_ends(stage, run_id)
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert stage.steps(run_id)[0].token == 2


def test_a_read_that_kills_its_worker_each_time_ends_failed(stage: Stage) -> None:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    for _ in range(3):
        stage.claim_only(run_id)
        _lease_ends(stage, run_id)
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "tool_failed")
    assert stage.world.reads == 0


def test_a_worker_that_wakes_after_its_lease_cannot_settle(stage: Stage) -> None:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    late = stage.claim_only(run_id)
    _lease_ends(stage, run_id)
    stage.work(run_id)
    before = stage.run(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(late, Succeeded({"x": 1}, '{"x":1}')))
    after = stage.run(run_id)
    assert (before.status, before.answer, before.finished_at) == (after.status, after.answer, after.finished_at)
    assert stage.kinds(run_id)[-1] == "late_result_refused"


def test_an_attempt_that_is_handed_back_is_over_when_the_next_one_begins(stage: Stage) -> None:
    run_id = _approved(stage)
    call = stage.claim_only(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(call, NotSent("It was too late.")))
    with tenant_transaction(stage.tenant_id):
        attempts = list(Attempt.objects.filter(step__run=run_id).order_by("number").values_list("number", "outcome"))
    assert attempts == [(1, "handed_back"), (2, None)]


def test_a_late_result_of_a_lost_mutation_leaves_it_unknown(stage: Stage) -> None:
    run_id = _approved(stage)
    late = stage.claim_only(run_id)
    _lease_ends(stage, run_id)
    stage.work(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(late, Succeeded({}, "{}")))
    assert stage.statuses(run_id) == ["unknown"]


def test_an_unknown_call_is_reconciled_by_a_person_and_the_run_goes_on(stage: Stage) -> None:
    run_id = _approved(stage)
    stage.claim_only(run_id)
    _lease_ends(stage, run_id)
    stage.work(run_id)
    (step,) = stage.steps(run_id)
    reconcile(stage.cast.alice.actor, step.id, succeeded=True, evidence="seen in the bank", result={"done": 1})
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    with pytest.raises(NotUnknown):
        reconcile(stage.cast.alice.actor, step.id, succeeded=True, evidence="again")


def test_cancelling_before_the_claim_runs_nothing(stage: Stage) -> None:
    run_id = _approved(stage)
    cancel(stage.cast.alice.actor, run_id, reason="stop")
    stage.work(run_id)
    assert stage.world.paid == []
    assert stage.run(run_id).status == "cancelled"
    assert stage.statuses(run_id) == ["withdrawn"]


def test_cancelling_in_flight_signals_the_tool_and_records_its_true_outcome(stage: Stage) -> None:
    run_id = _approved(stage)
    stage.world.gate = threading.Event()
    worker = threading.Thread(target=_work_and_close, args=[run_id])
    worker.start()
    assert stage.world.entered.wait(10)
    cancel(stage.cast.alice.actor, run_id, reason="stop")
    assert stage.run(run_id).status == "executing"
    worker.join(10)
    assert not worker.is_alive()
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("cancelled", "cancelled_by_user")
    assert stage.statuses(run_id)[0] in {"succeeded", "unknown"}
    assert len(stage.world.paid) == 1
    with pytest.raises(RunFinished):
        cancel(stage.cast.alice.actor, run_id)


def test_a_definite_failure_ends_a_strict_playbook_and_names_the_tool(stage: Stage) -> None:
    run_id = _approved(stage)
    stage.world.fail_next = ToolError("no_funds", "The account is empty.")
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "tool_failed")
    assert "The account is empty." in run.ended_because


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs_run SET status = 'planning', finished_at = NULL, terminal_reason = NULL WHERE id = %s",
        "UPDATE runs_run SET answer = 'other' WHERE id = %s",
        "UPDATE runs_run SET status = 'failed' WHERE id = %s",
        "UPDATE runs_step SET status = 'cleared' WHERE run_id = %s",
        "UPDATE runs_step SET status = 'running' WHERE run_id = %s",
        "DELETE FROM runs_step WHERE run_id = %s",
        "DELETE FROM runs_run WHERE id = %s",
        "UPDATE runs_event SET data = '{}' WHERE run_id = %s",
        "DELETE FROM runs_event WHERE run_id = %s",
        "UPDATE runs_proposal SET args = '{}' WHERE step_id IN (SELECT id FROM runs_step WHERE run_id = %s)",
        "UPDATE approvals_approvalrequest SET snapshot = '{}' WHERE run_id = %s",
        "UPDATE approvals_approvalrequest SET status = 'pending', decided_at = NULL WHERE run_id = %s",
    ],
)
def test_sql_as_the_application_role_cannot_change_what_is_final(stage: Stage, sql: str) -> None:
    run_id = _approved(stage)
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    before = stage.run(run_id)
    with pytest.raises(DatabaseError), tenant_transaction(stage.tenant_id), connection.cursor() as cursor:
        cursor.execute(sql, [run_id])
    after = stage.run(run_id)
    names = [f.attname for f in Run._meta.fields]
    assert [getattr(before, name) for name in names] == [getattr(after, name) for name in names]


def _work_and_close(run_id: UUID) -> None:
    try:
        execution.work("control", run_id)
    finally:
        connections.close_all()
