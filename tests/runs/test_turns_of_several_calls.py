"""Several calls in one turn, and calls proposed again: each is judged alone, nothing is lost, nothing is made twice."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.models import ApprovalRequest
from runs.domain.errors import RunFinished, TurnOpen
from runs.domain.planning import Finish, ToolProposal
from runs.operations.deciding import decide
from tests.runs.scenario import Stage
from tools.domain.outcome import ToolError


def _calls(stage: Stage, run_id: UUID) -> list[tuple[str, str]]:
    return [(s.tool, s.status) for s in stage.steps(run_id)]


def _mixed(stage: Stage) -> UUID:
    run_id = stage.outside()
    stage.propose(run_id, stage.pay("1"), stage.read(), stage.pay("2"))
    stage.work(run_id)
    return run_id


def test_free_calls_run_while_others_wait(stage: Stage) -> None:
    run_id = _mixed(stage)
    assert _calls(stage, run_id) == [("t_pay_plain", "held"), ("t_read", "succeeded"), ("t_pay_plain", "held")]
    assert stage.world.reads == 1
    assert stage.run(run_id).status == "awaiting_approval"
    assert [r.tool for r in stage.requests(run_id)] == ["t_pay_plain", "t_pay_plain"]


def test_rejecting_one_leaves_the_others_as_they_were(stage: Stage) -> None:
    run_id = _mixed(stage)
    before = stage.requests(run_id)[1]
    stage.reject(run_id, reason="not this one")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["rejected", "succeeded", "held"]
    after = stage.requests(run_id)[1]
    assert (after.digest, after.version, after.status) == (before.digest, before.version, "pending")
    with pytest.raises(TurnOpen):
        stage.propose(run_id, stage.pay("3"))
    stage.approve(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["rejected", "succeeded", "succeeded"]
    assert [paid[1] for paid in stage.world.paid] == ["2"]
    assert stage.world.reads == 1, "the free call is neither asked for nor repeated"
    assert stage.run(run_id).status == "planning"


def test_approving_in_the_other_order_makes_each_call_once(stage: Stage) -> None:
    run_id = _mixed(stage)
    first, second = stage.requests(run_id)
    for request in (second, first):
        decide(stage.cast.bob.actor, request.id, verdict=Verdict.APPROVE, digest=request.digest)
        stage.work(run_id)
    assert [paid[1] for paid in stage.world.paid] == ["2", "1"]
    assert stage.kinds(run_id).count("step.started") == 3


def test_stop_withdraws_the_other_held_calls(stage: Stage) -> None:
    run_id = _mixed(stage)
    stage.reject(run_id, reason="all of it is wrong", then=Then.STOP)
    assert stage.statuses(run_id) == ["rejected", "succeeded", "withdrawn"]
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "approval_rejected")
    assert "all of it is wrong" in run.ended_because
    assert [r.status for r in stage.requests(run_id)] == ["rejected", "withdrawn"]
    with pytest.raises(RunFinished):
        stage.propose(run_id, Finish("done"))


def test_one_that_expires_leaves_the_others(stage: Stage) -> None:
    run_id = stage.outside()
    stage.policy({"name": "fast", "when": "args.amount == '1'", "effect": "require_approval", "expires_in": 60})
    stage.propose(run_id, stage.pay("1"), stage.pay("2"))
    early, late = stage.requests(run_id)
    assert early.expires_at < late.expires_at
    with tenant_transaction(stage.tenant_id):
        ApprovalRequest.objects.filter(id=early.id).update(expires_at=early.opened_at - timedelta(seconds=1))
    stage.is_due(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["expired", "held"]
    stage.approve(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == ["expired", "succeeded"]


def test_the_same_call_twice_in_one_turn_is_made_once(stage: Stage) -> None:
    run_id = stage.outside()
    first, second = stage.propose(run_id, stage.pay(), stage.pay())
    assert (first.status, second.status) == ("held", "refused")
    refusal = stage.refusal(second)
    assert (refusal["code"], refusal["earlier_step"]) == ("repeated_action", str(first.id))
    stage.approve(run_id)
    stage.work(run_id)
    assert len(stage.world.paid) == 1
    (third,) = stage.propose(run_id, stage.pay())
    assert stage.refusal(third)["code"] == "repeated_action"


def test_a_wanted_repetition_is_asked_for_and_shows_the_earlier_one(stage: Stage) -> None:
    run_id = stage.outside()
    (first,) = stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    (second,) = stage.propose(run_id, stage.pay(again=1))
    assert (second.status, second.fingerprint == first.fingerprint) == ("held", False)
    (shown,) = json.loads(stage.pending(run_id).snapshot)["earlier"]
    assert (shown["step"], shown["status"]) == (str(first.id), "succeeded")
    stage.approve(run_id)
    stage.work(run_id)
    keys = [key for _, _, key in stage.world.paid]
    assert len(set(keys)) == 2


def test_a_new_try_after_a_definite_failure_has_a_key_of_its_own(stage: Stage) -> None:
    run_id = stage.outside()
    (first,) = stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.world.fail_next = ToolError("no_funds", "The account is empty.")
    stage.work(run_id)
    (second,) = stage.propose(run_id, stage.pay())
    assert stage.statuses(run_id) == ["failed", "held"]
    assert first.fingerprint == second.fingerprint
    assert first.idempotency_key != second.idempotency_key


def test_a_repeated_read_is_answered_from_the_first_until_something_changed(stage: Stage) -> None:
    run_id = stage.outside()
    for proposal in (stage.read(), stage.read()):
        stage.propose(run_id, proposal)
        stage.work(run_id)
    assert (stage.statuses(run_id), stage.world.reads) == (["succeeded", "succeeded"], 1)
    stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    assert stage.world.reads == 2


def test_what_was_rejected_is_refused_with_the_reason_until_the_budget_ends_it(stage: Stage) -> None:
    run_id = stage.outside(budget={"steps": 4})
    (first,) = stage.propose(run_id, stage.pay())
    stage.reject(run_id, reason="wrong supplier")
    for _ in range(3):
        (again,) = stage.propose(run_id, stage.pay())
        refusal = stage.refusal(again)
        assert (refusal["code"], refusal["earlier_step"]) == ("rejected_before", str(first.id))
        assert "wrong supplier" in refusal["message"]
    assert len(stage.requests(run_id)) == 1, "nobody is asked again"
    stage.propose(run_id, stage.pay())
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason, run.turns) == ("exhausted", "step_budget", 4)


def test_a_playbook_that_insists_ends_by_its_budget(stage: Stage) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}, "on_error": "continue"}
    slug = stage.agent("insists", [pay] * 10, budget={"steps": 5})
    run_id = stage.start(slug)
    stage.work(run_id)
    stage.reject(run_id, reason="never")
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("exhausted", "step_budget")
    assert stage.statuses(run_id) == ["rejected"] + ["refused"] * 4
    assert len(stage.requests(run_id)) == 1


def test_a_playbook_of_hundreds_of_refused_calls_comes_to_its_end(stage: Stage) -> None:
    step = {
        "tool": "t_pay_plain",
        "args": {"amount": {"$cel": "item"}},
        "for_each": "input.items",
        "on_error": "continue",
    }
    slug = stage.agent("many", [step], budget={"steps": 1000})
    run_id = stage.start(slug, given={"items": list(range(210))})
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.turns) == ("succeeded", 210)
    assert stage.requests(run_id) == []


BAD_ARGS = [
    {},
    {"account": "x"},
    {"account": 1, "amount": "5"},
    {"account": "x", "amount": 5},
    {"account": None, "amount": None},
    {"account": ["x"], "amount": "5"},
    [],
    "account",
    None,
]


@pytest.mark.parametrize("args", BAD_ARGS, ids=repr)
def test_what_does_not_validate_never_reaches_a_person(stage: Stage, args: Any) -> None:
    run_id = stage.outside()
    (step,) = stage.propose(run_id, ToolProposal("t_pay_plain", args))
    refusal = stage.refusal(step)
    assert (step.status, refusal["code"], refusal["retryable"]) == ("refused", "invalid_arguments", True)
    assert refusal["errors"]
    assert stage.requests(run_id) == []
    used, reserved = stage.budget(run_id)
    assert (used.tool_calls, reserved.tool_calls) == (0, 0)


def test_each_status_after_the_approval_is_seen(stage: Stage) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.pay())
    seen = [(stage.run(run_id).status, *stage.statuses(run_id))]
    stage.approve(run_id)
    seen.append((stage.run(run_id).status, *stage.statuses(run_id)))
    stage.claim_only(run_id)
    seen.append((stage.run(run_id).status, *stage.statuses(run_id)))
    stage.lease_ends(run_id)
    stage.work(run_id)
    seen.append((stage.run(run_id).status, *stage.statuses(run_id)))
    assert seen == [
        ("awaiting_approval", "held"),
        ("executing", "cleared"),
        ("executing", "running"),
        ("observing", "unknown"),
    ]
    assert [k for k in stage.kinds(run_id) if k.startswith("step.")] == [
        "step.proposed", "step.held", "step.approved", "step.started", "step.lost",
    ]  # fmt: skip
