"""Calls whose answer was lost: looked up by the machine where the tool says how, sent again where that is safe."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pydantic import BaseModel

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs.models import Step, WorkItem
from runs.operations import advancing
from runs.operations.advancing import Idle
from runs.operations.cancelling import cancel
from runs.operations.configuring import install_agent
from runs.operations.looking_up import PAUSES
from runs.operations.settling import Settled
from tests.runs.scenario import Stage
from tools.declare import ToolContext, declared, tool
from tools.domain.checks import parse_spec
from tools.domain.errors import InvalidTool
from tools.domain.outcome import NotSent, ToolError
from tools.operations import install_code_tools, install_specs


class Letter(BaseModel):
    """To whom."""

    to: str


class Asked(BaseModel):
    """By which key."""

    key: str


class Sent(BaseModel):
    """How often it was sent, and whether the other side is sure."""

    times: int
    sure: bool = False


class Office:
    """What the other system knows."""

    def __init__(self) -> None:
        self.by_key: dict[str, int] = {}
        self.sure = False
        self.lose_answers = 0
        self.refuse: ToolError | None = None
        self.act_before_losing = True


OFFICES: dict[str, Office] = {}


def _send(args: Letter, ctx: ToolContext) -> Sent:
    office = OFFICES[args.to]
    if office.refuse is not None:
        raise office.refuse
    if office.lose_answers == 0 or office.act_before_losing:
        office.by_key[ctx.idempotency_key] = office.by_key.get(ctx.idempotency_key, 0) + 1
    if office.lose_answers:
        office.lose_answers -= 1
        raise RuntimeError("the line broke")
    return Sent(times=office.by_key[ctx.idempotency_key], sure=True)


@tool(name="u_sent", description="Looks a letter up.", risk="read", scope="ledger:read", output_trust="trusted")
def u_sent(args: Asked, ctx: ToolContext) -> Sent:
    office = next(o for name, o in OFFICES.items() if args.key.startswith(name) or args.key in o.by_key or o.sure)
    return Sent(times=office.by_key.get(args.key, 0), sure=office.sure)


_LOOKUP = {
    "probe": {"tool": "u_sent", "args": {"key": {"$cel": "idempotency_key"}}},
    "succeeded": "result.times > 0",
    "failed": "result.sure && result.times == 0",
    "result": "{times: times, sure: sure}",
}


@tool(name="u_send", description="Sends.", risk="write", scope="ledger:write", output_trust="trusted",
      timeout_ms=1000, reconcile=_LOOKUP)  # fmt: skip
def u_send(args: Letter, ctx: ToolContext) -> Sent:
    return _send(args, ctx)


@tool(name="u_send_native", description="Sends once a key.", risk="write", scope="ledger:write",
      output_trust="trusted", idempotency="native")  # fmt: skip
def u_send_native(args: Letter, ctx: ToolContext) -> Sent:
    return _send(args, ctx)


@pytest.fixture
def office(stage: Stage) -> Office:
    install_code_tools(stage.tenant_id, ("u_sent", "u_send", "u_send_native"))
    OFFICES.clear()
    OFFICES[stage.account] = Office()
    return OFFICES[stage.account]


def _approved(stage: Stage, name: str) -> UUID:
    """A run of an agent that has this one tool, its only call approved. The probe is not the agent's."""
    steps = [{"tool": name, "args": {"to": {"$cel": "input.to"}}, "save_as": "sent"}]
    playbook: Any = {"steps": steps, "answer": "Sent {sent.times} time(s)."}
    install_agent(stage.tenant_id, slug="clerk", name="Clerk", planner="playbook", tools=[name], playbook=playbook)
    run_id = stage.start("clerk", given={"to": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    return run_id


def _later(stage: Stage, run_id: UUID, seconds: float = 20_000) -> None:
    """As if that much time had passed for the calls of this run."""
    with tenant_transaction(stage.tenant_id):
        for step in Step.objects.filter(run_id=run_id, status__in=["unknown", "running"]):
            step.attempts.filter(outcome=None).update(started_at=step.created_at)
            step.lookup_at = step.lookup_at and timezone.now() - timedelta(seconds=1)
            step.lease_until = step.lease_until and timezone.now() - timedelta(seconds=1)
            step.save(update_fields=["lookup_at", "lease_until"])
    WorkItem.objects.filter(id=run_id).update(due_at=timezone.now() - timedelta(seconds=1))
    stage.work(run_id)


def test_a_lookup_that_finds_the_effect_settles_the_call_and_the_run_goes_on_with_its_result(
    stage: Stage, office: Office
) -> None:
    office.lose_answers = 1
    run_id = _approved(stage, "u_send")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["unknown"]
    _later(stage, run_id)
    run = stage.run(run_id)
    assert (run.status, run.answer) == ("succeeded", "Sent 1 time(s).")
    assert list(office.by_key.values()) == [1]
    assert "looked_up" in stage.kinds(run_id)


def test_a_lookup_that_finds_nothing_concludes_nothing_until_the_call_can_no_longer_be_on_its_way(
    stage: Stage, office: Office
) -> None:
    office.lose_answers, office.act_before_losing, office.sure = 1, False, True
    run_id = _approved(stage, "u_send")
    stage.work(run_id)
    _later(stage, run_id)
    assert stage.statuses(run_id) == ["unknown"]
    (step,) = stage.steps(run_id)
    assert step.lookups == 1
    assert step.lookup_at is not None


def test_a_tool_that_does_not_say_what_failure_looks_like_is_left_to_a_person(stage: Stage, office: Office) -> None:
    office.lose_answers, office.act_before_losing, office.sure = 1, False, False
    run_id = _approved(stage, "u_send")
    stage.work(run_id)
    OFFICES[stage.account].by_key["other"] = 1
    for _ in PAUSES:
        _later(stage, run_id)
    (step,) = stage.steps(run_id)
    assert (step.status, step.lookups, step.lookup_at) == ("unknown", len(PAUSES), None)
    assert stage.run(run_id).status == "observing"


def test_a_cancelled_run_still_learns_what_its_unknown_call_did(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = _approved(stage, "u_send")
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    assert stage.run(run_id).status == "cancelled"
    _later(stage, run_id)
    assert stage.statuses(run_id) == ["succeeded"]
    assert stage.run(run_id).status == "cancelled"
    assert WorkItem.objects.get(id=run_id).due_at is None


def test_a_tool_that_no_longer_says_how_it_is_looked_up_leaves_its_calls_to_a_person(
    stage: Stage, office: Office
) -> None:
    office.lose_answers = 1
    run_id = _approved(stage, "u_send")
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


def test_a_tool_that_acts_once_a_key_is_sent_again_under_the_same_key(stage: Stage, office: Office) -> None:
    office.lose_answers = 2
    run_id = _approved(stage, "u_send_native")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["running"]
    _later(stage, run_id)
    _later(stage, run_id)
    assert stage.run(run_id).status == "succeeded"
    (step,) = stage.steps(run_id)
    assert step.token == 3
    assert list(office.by_key) == [step.idempotency_key]


def test_a_tool_that_acts_once_a_key_ends_unknown_when_every_answer_is_lost(stage: Stage, office: Office) -> None:
    office.lose_answers = 9
    run_id = _approved(stage, "u_send_native")
    stage.work(run_id)
    for _ in range(4):
        _later(stage, run_id)
    assert stage.statuses(run_id) == ["unknown"]
    assert list(office.by_key.values()) == [3]


def test_a_call_sent_again_that_is_refused_is_not_said_to_have_failed(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = _approved(stage, "u_send_native")
    stage.work(run_id)
    office.refuse = ToolError("conflict", "That key is in use.")
    _later(stage, run_id)
    assert stage.statuses(run_id) == ["running"]
    _later(stage, run_id)
    (step,) = stage.steps(run_id)
    assert step.status == "unknown"
    assert list(office.by_key.values()) == [1]
    assert "conflict: That key is in use." in stage.refusal(step)["message"]
    with tenant_transaction(stage.tenant_id):
        outcomes = list(step.attempts.order_by("number").values_list("outcome", flat=True))
    assert outcomes == ["unknown", "failed", "failed"]


def test_a_call_sent_again_that_is_refused_and_then_answered_has_succeeded(stage: Stage, office: Office) -> None:
    office.lose_answers = 1
    run_id = _approved(stage, "u_send_native")
    stage.work(run_id)
    office.refuse = ToolError("conflict", "That key is in use.")
    _later(stage, run_id)
    office.refuse = None
    _later(stage, run_id)
    assert stage.statuses(run_id) == ["succeeded"]


def test_a_call_that_is_cancelled_before_it_is_sent_again_is_unknown_and_not_withdrawn(
    stage: Stage, office: Office
) -> None:
    run_id = _approved(stage, "u_send_native")
    stage.claim_only(run_id)
    stage.lease_ends(run_id)
    second = stage.claim_only(run_id)
    cancel(stage.cast.alice.actor, run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(second, NotSent("It was cancelled.")))
    assert stage.statuses(run_id) == ["unknown"]
    assert stage.run(run_id).status == "cancelled"


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
        install_specs(stage.tenant_id, [parse_spec(raw | {"reconcile": change(_LOOKUP)})], by="test")
    assert [fault.pointer for fault in caught.value.faults] == [pointer]
