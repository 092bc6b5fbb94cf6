"""Two callers at one handle at the same instant: one moves it, the other runs nothing."""

import pytest

from approvals.domain.decision import Verdict
from runs.operations.deciding import decide
from tests.races.conftest import together
from tests.runs.gates import new_gate
from tests.runs.scenario import Stage


@pytest.mark.parametrize("attempt", range(3))
def test_two_callers_at_once_cannot_share_a_state(stage: Stage, attempt: int) -> None:
    gate = new_gate(stage)
    runs = [gate.at("approved"), gate.run(), gate.run()]
    for run_id in runs:
        assert gate.call(run_id, "invoice_discharge").status == "held"
    for run_id in runs:
        request = stage.pending(run_id)
        decide(stage.cast.bob.actor, request.id, verdict=Verdict.APPROVE, digest=request.digest)
    together([lambda run_id=run_id: stage.work(run_id) for run_id in runs])  # type: ignore[misc]
    ends = sorted(stage.steps(run_id)[-1].status for run_id in runs)
    assert ends == ["refused", "refused", "succeeded"]
    refusals = [stage.refusal(s) for run_id in runs if (s := stage.steps(run_id)[-1]).status == "refused"]
    assert {refusal["code"] for refusal in refusals} == {"state_forbidden"}
    assert gate.office.called.count("invoice_discharge") == 1
    assert gate.where() == ("discharged", 4)


def test_two_callers_at_once_cannot_skip_a_state(stage: Stage) -> None:
    gate = new_gate(stage)
    runs = [gate.run() for _ in range(4)]
    together([lambda run_id=run_id: gate.call(run_id, "invoice_submit") for run_id in runs])  # type: ignore[misc]
    # When all are over: whoever is free may have taken another's run.
    statuses = sorted(status for run_id in runs for status in stage.statuses(run_id))
    assert statuses == ["refused", "refused", "refused", "succeeded"]
    assert gate.where() == ("review", 2)
    moves = sum(stage.kinds(run_id).count("workflow_moved") for run_id in runs)
    assert (moves, gate.office.called) == (1, ["invoice_submit"])


def test_runs_that_begin_a_handle_at_once_begin_it_once(stage: Stage) -> None:
    gate = new_gate(stage)
    results = together([gate.run for _ in range(4)])
    assert not [result for result in results if isinstance(result, Exception)]
    assert gate.where() == ("draft", 1)
