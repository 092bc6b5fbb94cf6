"""Calls of tools that act once a key: sent again after a lost answer, and what a refusal of that says."""

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.operations.settling import Settled
from tests.runs.letters import Office, approved, later
from tests.runs.scenario import Stage
from tools.domain.outcome import NotSent, ToolError


def test_a_tool_that_acts_once_a_key_is_sent_again_under_the_same_key(stage: Stage, office: Office) -> None:
    office.lose_answers = 2
    run_id = approved(stage, "u_send_native")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["running"]
    later(stage, run_id)
    later(stage, run_id)
    assert stage.run(run_id).status == "succeeded"
    (step,) = stage.steps(run_id)
    assert step.token == 3
    assert list(office.by_key) == [step.idempotency_key]


def test_a_tool_that_acts_once_a_key_ends_unknown_when_every_answer_is_lost(stage: Stage, office: Office) -> None:
    office.lose_answers = 9
    run_id = approved(stage, "u_send_native")
    stage.work(run_id)
    for _ in range(4):
        later(stage, run_id)
    assert stage.statuses(run_id) == ["unknown"]
    assert list(office.by_key.values()) == [3]


def test_a_call_sent_again_that_is_refused_is_not_said_to_have_failed(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = approved(stage, "u_send_native")
    stage.work(run_id)
    office.refuse = ToolError("conflict", "That key is in use.")
    later(stage, run_id)
    assert stage.statuses(run_id) == ["running"]
    later(stage, run_id)
    (step,) = stage.steps(run_id)
    assert step.status == "unknown"
    assert list(office.by_key.values()) == [1]
    assert "conflict: That key is in use." in stage.refusal(step)["message"]
    with tenant_transaction(stage.tenant_id):
        outcomes = list(step.attempts.order_by("number").values_list("outcome", flat=True))
    assert outcomes == ["unknown", "failed", "failed"]


def test_a_call_sent_again_that_is_refused_and_then_answered_has_succeeded(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = approved(stage, "u_send_native")
    stage.work(run_id)
    office.refuse = ToolError("conflict", "That key is in use.")
    later(stage, run_id)
    office.refuse = None
    later(stage, run_id)
    assert stage.statuses(run_id) == ["succeeded"]


def test_a_call_that_is_cancelled_before_it_is_sent_again_is_unknown_and_not_withdrawn(
    stage: Stage, office: Office
) -> None:
    run_id = approved(stage, "u_send_native")
    stage.claim_only(run_id)
    stage.lease_ends(run_id)
    second = stage.claim_only(run_id)
    cancel(stage.cast.alice.actor, run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(second, NotSent("It was cancelled.")))
    assert stage.statuses(run_id) == ["unknown"]
    assert stage.run(run_id).status == "cancelled"
