"""Two people, two workers, two programs at the same instant: one wins, the other learns it."""

import pytest

from agentops.tenancy.ids import uuid7
from approvals.domain.decision import Verdict
from approvals.domain.errors import AlreadyDecided
from runs.operations import advancing
from runs.operations.advancing import Execute
from runs.operations.cancelling import cancel
from runs.operations.deciding import Decided, decide
from runs.operations.starting import Started, start_run
from tests.races.conftest import together
from tests.runs.scenario import Stage

PAY = [{"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]


@pytest.mark.parametrize("attempt", range(5))
def test_two_approvals_at_once_are_one_decision_and_one_execution(stage: Stage, attempt: int) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    request = stage.pending(run_id)
    bob, carol = stage.cast.bob.actor, stage.cast.carol.actor
    results = together(
        [
            lambda: decide(bob, request.id, verdict=Verdict.APPROVE, digest=request.digest),
            lambda: decide(carol, request.id, verdict=Verdict.APPROVE, digest=request.digest),
        ]
    )
    winners = [r for r in results if isinstance(r, Decided)]
    losers = [r for r in results if isinstance(r, AlreadyDecided)]
    assert (len(winners), len(losers)) == (1, 1), results
    assert losers[0].details["verdict"] == "approve"
    assert losers[0].details["decided_by"] in {bob.label, carol.label}
    together([lambda: stage.work(run_id), lambda: stage.work(run_id)])
    assert len(stage.world.paid) == 1
    assert stage.kinds(run_id).count("decided") == 1


def test_approve_and_reject_at_once_are_one_verdict(stage: Stage) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    request = stage.pending(run_id)
    bob, carol = stage.cast.bob.actor, stage.cast.carol.actor
    results = together(
        [
            lambda: decide(bob, request.id, verdict=Verdict.APPROVE, digest=request.digest),
            lambda: decide(carol, request.id, verdict=Verdict.REJECT, digest=request.digest),
        ]
    )
    assert sorted(type(r).__name__ for r in results) == ["AlreadyDecided", "Decided"]


def test_two_workers_never_claim_the_same_call(stage: Stage) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    found = together([lambda: advancing.begin("control", run_id, uuid7()) for _ in range(4)])
    claims = [f for f in found if isinstance(f, Execute) and f.call.run_id == run_id]
    assert len(claims) == 1
    assert stage.kinds(run_id).count("step.started") == 1


def test_the_same_start_at_once_is_one_run(stage: Stage) -> None:
    slug = stage.agent("payer", PAY)
    actor = stage.cast.service.actor
    results = together([lambda: start_run(actor, agent=slug, task="Pay", key="same") for _ in range(4)])
    assert all(isinstance(r, Started) for r in results), results
    assert len({r.run_id for r in results if isinstance(r, Started)}) == 1
    assert [r.created for r in results if isinstance(r, Started)].count(True) == 1


def test_approve_and_cancel_at_once_end_in_one_truth(stage: Stage) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    request = stage.pending(run_id)
    bob, alice = stage.cast.bob.actor, stage.cast.alice.actor
    together(
        [
            lambda: decide(bob, request.id, verdict=Verdict.APPROVE, digest=request.digest),
            lambda: cancel(alice, run_id, reason="stop"),
        ]
    )
    stage.work(run_id)
    assert stage.run(run_id).status == "cancelled"
    assert stage.world.paid == []
