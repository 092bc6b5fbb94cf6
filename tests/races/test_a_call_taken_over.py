"""The lease of a call has ended, and several lay hands on it at the same instant: the call has one end."""

import pytest

from agentops.tenancy.ids import uuid7
from runs.operations import advancing
from runs.operations.advancing import Execute
from runs.operations.cancelling import cancel
from runs.operations.settling import Settled
from tests.races.conftest import together
from tests.runs.scenario import Stage
from tools.domain.outcome import Succeeded

ACCOUNT = {"account": {"$cel": "input.account"}}
PAY = [{"tool": "t_pay_plain", "args": ACCOUNT | {"amount": "5"}}]
READ = [{"tool": "t_read", "args": ACCOUNT}]
DONE = Succeeded({"done": 1}, '{"done":1}')


@pytest.mark.parametrize("attempt", range(3))
def test_its_own_worker_and_another_at_once_leave_one_outcome(stage: Stage, attempt: int) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    call = stage.claim_only(run_id)
    stage.lease_ends(run_id)
    report = Settled(call, DONE)
    together(
        [
            lambda: advancing.resume(stage.tenant_id, run_id, uuid7(), queue="control", settled=report),
            lambda: stage.work(run_id),
        ]
    )
    kinds = stage.kinds(run_id)
    assert kinds.count("step.succeeded") + kinds.count("step.lost") == 1
    was_late = "step.lost" in kinds
    assert stage.statuses(run_id) == ["unknown" if was_late else "succeeded"]
    assert kinds.count("late_result_refused") == was_late
    assert stage.world.paid == []


def test_four_workers_at_once_take_it_over_once(stage: Stage) -> None:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    stage.claim_only(run_id)
    stage.lease_ends(run_id)
    found = together([lambda: advancing.begin("control", run_id, uuid7()) for _ in range(4)])
    assert [type(f) for f in found if isinstance(f, Execute) and f.call.run_id == run_id] == [Execute]
    assert stage.kinds(run_id).count("step.restarted") == 1
    assert stage.steps(run_id)[0].token == 2


def test_a_cancellation_at_the_same_instant_revives_nothing(stage: Stage) -> None:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    stage.claim_only(run_id)
    stage.lease_ends(run_id)
    together([lambda: cancel(stage.cast.alice.actor, run_id, reason="stop"), lambda: stage.work(run_id)])
    stage.work(run_id)
    run = stage.run(run_id)
    assert run.finished_at is not None
    assert run.status in {"cancelled", "succeeded"}
    assert stage.world.reads == (1 if stage.statuses(run_id) == ["succeeded"] else 0)
