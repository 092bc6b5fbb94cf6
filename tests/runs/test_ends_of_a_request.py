"""How a request ends, and that each of its ends comes once, from its own cause, and stays."""

import threading
from typing import Any
from uuid import UUID

import pytest

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.domain.errors import AlreadyDecided, Expired
from approvals.models import ApprovalRequest
from runs.domain.errors import RunFinished
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.operations.deciding import decide
from runs.operations.settling import Settled
from tests.runs.scenario import Stage
from tests.runs.threads import working
from tools.domain.outcome import Succeeded, ToolError

PAY = {"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}


def _held(stage: Stage, **more: Any) -> UUID:
    run_id = stage.start(stage.agent("payer", [{**PAY, **more}]), given={"account": stage.account})
    stage.work(run_id)
    return run_id


def _who_did(stage: Stage, run_id: UUID, kind: str) -> str:
    (event,) = [e for e in stage.events(run_id) if e.kind == kind]
    return event.actor


def test_silence_refusal_withdrawal_and_failure_are_four_outcomes_of_four_actors(stage: Stage) -> None:
    cast = stage.cast
    silent, refused, withdrawn, failed = (_held(stage) for _ in range(4))
    stage.nobody_decides(silent)
    stage.reject(refused)
    cancel(cast.alice.actor, withdrawn)
    stage.approve(failed)
    stage.world.fail_next = ToolError("unreachable", "The bank cannot be reached.")
    for run_id in (silent, refused, withdrawn, failed):
        stage.work(run_id)
    kinds = ["step.expired", "step.rejected", "step.withdrawn", "step.failed"]
    runs = [silent, refused, withdrawn, failed]
    actors = [_who_did(stage, run_id, kind) for run_id, kind in zip(runs, kinds, strict=True)]
    assert actors == ["agentops: clock", cast.bob.actor.label, cast.alice.actor.label, "tool t_pay_plain"]
    assert [stage.requests(r)[0].status for r in runs] == ["expired", "rejected", "withdrawn", "approved"]
    ends = [(stage.run(r).status, stage.run(r).terminal_reason) for r in runs]
    assert ends == [
        ("failed", "approval_expired"),
        ("failed", "approval_rejected"),
        ("cancelled", "cancelled_by_user"),
        ("failed", "tool_failed"),
    ]
    assert stage.world.paid == []


def _rejected(stage: Stage, run_id: UUID) -> None:
    stage.reject(run_id, then=Then.STOP)


def _cancelled(stage: Stage, run_id: UUID) -> None:
    cancel(stage.cast.alice.actor, run_id, reason="stop")


def _expired(stage: Stage, run_id: UUID) -> None:
    stage.nobody_decides(run_id)
    stage.work(run_id)


def _approved(stage: Stage, run_id: UUID) -> None:
    stage.approve(run_id)


@pytest.mark.parametrize("ends", [_rejected, _cancelled, _expired, _approved])
@pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT])
def test_a_request_that_ended_cannot_be_decided(stage: Stage, ends: Any, verdict: Verdict) -> None:
    run_id = _held(stage)
    request = stage.pending(run_id)
    ends(stage, run_id)
    before = (stage.statuses(run_id), stage.run(run_id).head)
    error = Expired if ends is _expired else AlreadyDecided
    with pytest.raises(error) as told:
        decide(stage.cast.carol.actor, request.id, verdict=verdict, digest=request.digest)
    if ends in (_rejected, _approved):
        assert told.value.details["decided_by"] == stage.cast.bob.actor.label
        assert "decided_at" in told.value.details
    assert (stage.statuses(run_id), stage.run(run_id).head) == before


def test_time_that_is_up_expires_a_request_even_if_nobody_looked_yet(stage: Stage) -> None:
    run_id = _held(stage)
    stage.nobody_decides(run_id)
    with pytest.raises(Expired):
        stage.approve(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["expired"]


def test_an_old_expiry_does_nothing_to_an_approved_call(stage: Stage) -> None:
    run_id = _held(stage)
    stage.approve(run_id)
    with tenant_transaction(stage.tenant_id):
        ApprovalRequest.objects.filter(run_id=run_id).update(expires_at="2020-01-01T00:00:00Z")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["succeeded"]


def test_the_decision_of_a_superseded_request_does_nothing(stage: Stage) -> None:
    run_id = _held(stage, tool="t_pay")
    old = stage.pending(run_id)
    stage.approve(run_id)
    stage.world.amount = "1.00"
    stage.work(run_id)
    new = stage.pending(run_id)
    assert (new.supersedes, old.digest == new.digest) == (old.id, False)
    for digest in (old.digest, new.digest):
        with pytest.raises(AlreadyDecided) as told:
            decide(stage.cast.carol.actor, old.id, verdict=Verdict.APPROVE, digest=digest)
        assert told.value.details["superseded_by"] == str(new.id)
    stage.work(run_id)
    assert (stage.statuses(run_id), stage.world.paid) == (["held"], [])


def test_late_messages_change_nothing_while_people_are_awaited(stage: Stage) -> None:
    run_id = _held(stage)
    before = stage.run(run_id).head
    for _ in range(3):
        stage.work(run_id)
        advancing.resume(stage.tenant_id, run_id, uuid7())
        stage.is_due(run_id)
        stage.work(run_id)
    assert (stage.run(run_id).head, stage.statuses(run_id)) == (before, ["held"])


def test_a_message_of_a_cancelled_run_runs_nothing(stage: Stage) -> None:
    run_id = _held(stage)
    stage.approve(run_id)
    cancel(stage.cast.alice.actor, run_id)
    before = stage.run(run_id).head
    stage.is_due(run_id)
    stage.work(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7())
    assert (stage.run(run_id).head, stage.world.paid) == (before, [])


def test_cancelling_twice_says_it_once_and_an_ended_run_cannot_be_cancelled(stage: Stage) -> None:
    run_id = _held(stage)
    stage.approve(run_id)
    stage.world.gate = threading.Event()
    with working(run_id):
        assert stage.world.entered.wait(10)
        cancel(stage.cast.alice.actor, run_id, reason="one")
        cancel(stage.cast.carol.actor, run_id, reason="two")
    run = stage.run(run_id)
    assert (run.status, run.cancel_reason) == ("cancelled", "one")
    assert stage.kinds(run_id).count("cancel_requested") == 1
    with pytest.raises(RunFinished) as told:
        cancel(stage.cast.alice.actor, run_id)
    assert told.value.details["status"] == "cancelled"


def test_a_late_result_never_revives_a_cancelled_run(stage: Stage) -> None:
    run_id = _held(stage)
    stage.approve(run_id)
    late = stage.claim_only(run_id)
    cancel(stage.cast.alice.actor, run_id)
    assert stage.run(run_id).status == "executing"
    stage.lease_ends(run_id)
    stage.work(run_id)
    assert (stage.run(run_id).status, stage.statuses(run_id)) == ("cancelled", ["unknown"])
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(late, Succeeded({}, "{}")))
    assert (stage.run(run_id).status, stage.statuses(run_id)) == ("cancelled", ["unknown"])
    assert stage.kinds(run_id)[-1] == "late_result_refused"


def test_stop_ends_the_run_only_after_the_call_in_flight_is_known(stage: Stage) -> None:
    steps = [{"parallel": [{"tool": "t_pay_plain", "args": {"account": stage.account, "amount": n}} for n in "567"]}]
    run_id = stage.start(stage.agent("payers", steps))
    stage.work(run_id)
    stage.approve(run_id)
    stage.world.gate = threading.Event()
    with working(run_id):
        assert stage.world.entered.wait(10)
        stage.reject(run_id, then=Then.STOP, reason="enough")
        assert stage.run(run_id).finished_at is None
        assert stage.statuses(run_id) == ["running", "rejected", "withdrawn"]
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "approval_rejected")
    assert "enough" in run.ended_because
    assert stage.statuses(run_id) == ["succeeded", "rejected", "withdrawn"]
    assert len(stage.world.paid) == 1
