"""Calls whose answer was lost: looked up by the machine where the tool says how, else left to a person."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs.models import Step, WorkItem
from runs.operations import advancing
from runs.operations.advancing import Idle
from runs.operations.cancelling import cancel
from runs.operations.looking_up import PAUSES
from tests.runs.letters import LOOKUP, OFFICES, Office, approved, later
from tests.runs.scenario import Stage
from tools.declare import declared
from tools.domain.checks import parse_spec
from tools.domain.errors import InvalidTool
from tools.operations import install_specs


def test_a_lookup_that_finds_the_effect_settles_the_call_and_the_run_goes_on_with_its_result(
    stage: Stage, office: Office
) -> None:
    office.lose_answers = 1
    run_id = approved(stage, "u_send")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["unknown"]
    later(stage, run_id)
    run = stage.run(run_id)
    assert (run.status, run.answer) == ("succeeded", "Sent 1 time(s).")
    assert list(office.by_key.values()) == [1]
    assert "looked_up" in stage.kinds(run_id)


def test_a_lookup_that_finds_nothing_concludes_nothing_until_the_call_can_no_longer_be_on_its_way(
    stage: Stage, office: Office
) -> None:
    office.lose_answers, office.act_before_losing, office.sure = 1, False, True
    run_id = approved(stage, "u_send")
    stage.work(run_id)
    later(stage, run_id)
    assert stage.statuses(run_id) == ["unknown"]
    (step,) = stage.steps(run_id)
    assert step.lookups == 1
    assert step.lookup_at is not None


def test_a_tool_that_does_not_say_what_failure_looks_like_is_left_to_a_person(stage: Stage, office: Office) -> None:
    office.lose_answers, office.act_before_losing, office.sure = 1, False, False
    run_id = approved(stage, "u_send")
    stage.work(run_id)
    OFFICES[stage.account].by_key["other"] = 1
    for _ in PAUSES:
        later(stage, run_id)
    (step,) = stage.steps(run_id)
    assert (step.status, step.lookups, step.lookup_at) == ("unknown", len(PAUSES), None)
    assert stage.run(run_id).status == "observing"


def test_a_cancelled_run_still_learns_what_its_unknown_call_did(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = approved(stage, "u_send")
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    assert stage.run(run_id).status == "cancelled"
    later(stage, run_id)
    assert stage.statuses(run_id) == ["succeeded"]
    assert stage.run(run_id).status == "cancelled"
    assert WorkItem.objects.get(id=run_id).due_at is None


def test_a_tool_that_no_longer_says_how_it_is_looked_up_leaves_its_calls_to_a_person(
    stage: Stage, office: Office
) -> None:
    office.lose_answers = 1
    run_id = approved(stage, "u_send")
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    raw = declared()["u_send"].spec.model_dump(mode="json")
    stage.tool(raw | {"reconcile": None})
    with tenant_transaction(stage.tenant_id):
        Step.objects.filter(run_id=run_id).update(lookup_at=timezone.now() - timedelta(seconds=1))
    stage.is_due(run_id)
    assert advancing.begin("control", run_id, uuid7()) == Idle()
    assert WorkItem.objects.get(id=run_id).due_at is None
    assert stage.statuses(run_id) == ["unknown"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda how: how | {"failed": "result.("}, "/reconcile/failed"),
        (lambda how: how | {"succeeded": "("}, "/reconcile/succeeded"),
        (lambda how: how | {"result": "[?"}, "/reconcile/result"),
        (lambda how: how | {"probe": {"tool": "u_send", "args": {}}}, "/reconcile/probe/tool"),
    ],
)
def test_a_broken_reconciliation_is_refused_when_it_is_saved(
    stage: Stage, office: Office, change: Callable[[dict[str, Any]], dict[str, Any]], pointer: str
) -> None:
    raw = declared()["u_send"].spec.model_dump(mode="json")
    with pytest.raises(InvalidTool) as caught:
        install_specs(stage.tenant_id, [parse_spec(raw | {"reconcile": change(LOOKUP)})], by="test")
    assert [fault.pointer for fault in caught.value.faults] == [pointer]
