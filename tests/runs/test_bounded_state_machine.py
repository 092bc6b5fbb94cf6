"""bounded-state-machine: the printed validator's three refusals, as the engine says them.

Where semantics.md differs: a fingerprint holds tenant, principal, version and scope, so that it is of mutations that a
repetition is refused (a repeated read is answered again), and the step budget ends the run instead of one proposal.
"""

from runs.domain.planning import ToolProposal
from tests.runs.scenario import Stage


def test_a_name_that_is_not_allowed_is_tool_denied(stage: Stage) -> None:
    run_id = stage.outside(budget={"steps": 2})
    (step,) = stage.propose(run_id, ToolProposal("delete", {}))
    assert (step.status, stage.refusal(step)["code"]) == ("refused", "tool_denied")


def test_a_turn_beyond_the_limit_is_step_budget(stage: Stage) -> None:
    run_id = stage.outside(budget={"steps": 2})
    for again in range(2):
        stage.propose(run_id, stage.read(again=again))
        stage.work(run_id)
    assert stage.run(run_id).status == "planning"
    stage.propose(run_id, stage.read(again=2))
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason, run.turns) == ("exhausted", "step_budget", 2)
    assert len(stage.steps(run_id)) == 2


def test_the_same_mutation_again_is_repeated_action(stage: Stage) -> None:
    run_id = stage.outside()
    (first,) = stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    (second,) = stage.propose(run_id, ToolProposal("t_pay_plain", {"amount": "5", "account": stage.account}))
    refusal = stage.refusal(second)
    assert (refusal["code"], refusal["earlier_step"]) == ("repeated_action", str(first.id))
    assert first.fingerprint == second.fingerprint
    assert len(stage.world.paid) == 1


def test_an_allowed_proposal_within_the_limits_is_let_in_with_its_fingerprint(stage: Stage) -> None:
    (step,) = stage.propose(stage.outside(), stage.read())
    assert step.refusal is None
    assert step.fingerprint is not None
