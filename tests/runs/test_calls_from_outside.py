"""Single calls of an outside agent: each a turn, an identical one the same step, in a run that ends by itself."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connection

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.errors import NotForAgents
from runs.domain.errors import GrantRests, NoSuchTool, NotHeld, NotThePrincipal, RunFinished, TooManyOpen
from runs.domain.planning import ToolProposal
from runs.models import Run, Step
from runs.operations.calling import MAX_OPEN, Called, call, finish
from runs.operations.cancelling import cancel
from runs.operations.granting import open_run, run_of_grant
from runs.operations.submitting import submit
from runs.operations.withdrawing import withdraw
from tests.cast import new_service
from tests.runs.scenario import Stage
from tools.domain.outcome import ToolError

IDLE = 600


def _call(stage: Stage, run_id: UUID, proposal: ToolProposal) -> Called:
    return call(stage.cast.service.actor, run_id, proposal)


def _only(stage: Stage, run_id: UUID) -> Step:
    (step,) = stage.steps(run_id)
    return step


def _grant_run(stage: Stage, *, by: Actor | None = None, grant: str = "key:1", agent: str = "") -> UUID:
    actor = by or stage.cast.service.actor
    return run_of_grant(actor, grant, agent or stage.external(), idle_seconds=IDLE)


def _long_quiet(run_id: UUID, stage: Stage) -> None:
    """As if nothing had been called for as long as the run waits for it."""
    with tenant_transaction(stage.tenant_id):
        Run.objects.filter(id=run_id).update(idle_seconds=0)
    stage.is_due(run_id)


@pytest.mark.parametrize("tool", ["t_pay_plain", "t_pay"])
def test_an_identical_call_is_the_same_step_while_it_waits_and_after_it_was_made(stage: Stage, tool: str) -> None:
    run_id = stage.outside()
    first = _call(stage, run_id, stage.pay(tool=tool))
    again = _call(stage, run_id, stage.pay(tool=tool))
    assert (again.step_id, first.attached, again.attached) == (first.step_id, False, True)
    stage.approve(run_id)
    stage.work(run_id)
    assert _call(stage, run_id, stage.pay(tool=tool)).step_id == first.step_id
    assert _only(stage, run_id).status == "succeeded"
    assert len(stage.world.paid) == 1


def test_a_rejected_call_stays_rejected(stage: Stage) -> None:
    run_id = stage.outside()
    first = _call(stage, run_id, stage.pay())
    stage.reject(run_id, reason="too much")
    assert _call(stage, run_id, stage.pay()) == Called(first.step_id, attached=True)
    assert _only(stage, run_id).status == "rejected"


def test_a_wanted_repetition_is_a_step_of_its_own(stage: Stage) -> None:
    run_id = stage.outside()
    first = _call(stage, run_id, stage.pay())
    assert _call(stage, run_id, stage.pay(again=1)).step_id != first.step_id


def test_a_call_that_failed_may_be_made_again(stage: Stage) -> None:
    run_id = stage.outside()
    first = _call(stage, run_id, stage.pay())
    stage.world.fail_next = ToolError("refused", "no")
    stage.approve(run_id)
    stage.work(run_id)
    assert _call(stage, run_id, stage.pay()) != Called(first.step_id, attached=True)


def test_identical_calls_at_once_are_one_step(stage: Stage) -> None:
    run_id = stage.outside()

    def one(_: int) -> Called:
        try:
            return _call(stage, run_id, stage.pay())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        called = list(threads.map(one, range(4)))
    assert {c.step_id for c in called} == {_only(stage, run_id).id}
    assert sorted(c.attached for c in called) == [False, True, True, True]


def test_eight_calls_may_be_open_and_each_is_a_turn(stage: Stage) -> None:
    run_id = stage.outside()
    for amount in range(MAX_OPEN):
        _call(stage, run_id, stage.pay(str(amount)))
    assert [s.turn for s in stage.steps(run_id)] == list(range(1, MAX_OPEN + 1))
    with pytest.raises(TooManyOpen):
        _call(stage, run_id, stage.pay("9"))
    assert _call(stage, run_id, stage.pay("0")).attached, "a retry needs no room"
    stage.reject(run_id)
    assert not _call(stage, run_id, stage.pay("9")).attached


def test_calls_wait_in_any_order(stage: Stage) -> None:
    run_id = stage.outside()
    _call(stage, run_id, stage.pay())
    _call(stage, run_id, stage.read())
    stage.work(run_id)
    assert stage.statuses(run_id) == ["held", "succeeded"]


def test_the_call_beyond_the_budget_ends_the_run(stage: Stage) -> None:
    run_id = stage.outside(budget={"steps": 1})
    _call(stage, run_id, stage.read())
    with pytest.raises(RunFinished) as refused:
        _call(stage, run_id, stage.pay())
    assert refused.value.details["terminal_reason"] == "step_budget"
    assert stage.run(run_id).status == "exhausted"


def test_a_tool_that_is_not_offered_leaves_no_trace(stage: Stage) -> None:
    run_id = stage.outside()
    with pytest.raises(NoSuchTool):
        _call(stage, run_id, ToolProposal("t_secret", {}))
    assert stage.steps(run_id) == []


def test_only_the_principal_calls_and_never_with_the_right_to_decide(stage: Stage) -> None:
    run_id = stage.outside()
    held = _call(stage, run_id, stage.pay()).step_id
    other = new_service(stage.cast.carol, "others").actor
    with pytest.raises(NotThePrincipal):
        call(other, run_id, stage.pay())
    with pytest.raises(NotThePrincipal):
        withdraw(other, run_id, held)
    with pytest.raises(NotForAgents):
        call(stage.cast.alice.key_actor, run_id, stage.pay())


def test_a_token_with_fewer_scopes_than_its_principal_calls_and_proposes_with_those(stage: Stage) -> None:
    run_id = stage.outside()
    fewer = replace(stage.cast.service.actor, scopes=frozenset({"runs:write", "ledger:read"}))
    with pytest.raises(NoSuchTool):
        call(fewer, run_id, stage.pay())
    call(fewer, run_id, stage.read())
    stage.work(run_id)
    submit(fewer, run_id, [stage.pay()])
    refused = stage.steps(run_id)[-1]
    assert (refused.status, stage.refusal(refused)["code"]) == ("refused", "tool_denied")


def test_a_call_that_waits_is_taken_back_once(stage: Stage) -> None:
    run_id = stage.outside()
    step_id = _call(stage, run_id, stage.pay()).step_id
    withdraw(stage.cast.service.actor, run_id, step_id)
    assert (_only(stage, run_id).status, stage.requests(run_id)[0].status) == ("withdrawn", "withdrawn")
    assert stage.budget(run_id)[1].tool_calls == 0
    with pytest.raises(NotHeld):
        withdraw(stage.cast.service.actor, run_id, step_id)


def test_a_run_ends_when_nothing_was_called_for_long_and_not_while_a_person_is_awaited(stage: Stage) -> None:
    run_id = _grant_run(stage)
    _call(stage, run_id, stage.pay())
    _long_quiet(run_id, stage)
    stage.work(run_id)
    assert stage.run(run_id).status == "awaiting_approval"
    stage.approve(run_id)
    stage.work(run_id)
    stage.is_due(run_id)
    stage.work(run_id)
    assert (stage.run(run_id).status, stage.run(run_id).terminal_reason) == ("succeeded", "completed")


def test_a_grant_has_one_open_run_and_the_next_after_it_finished(stage: Stage) -> None:
    service, agent = stage.cast.service.actor, stage.external()
    run_id = _grant_run(stage, agent=agent)
    assert _grant_run(stage, agent=agent) == run_id
    assert _grant_run(stage, agent=agent, grant="key:12") != run_id
    found = open_run(service, "key:1", agent)
    assert found is not None
    assert found.id == run_id
    finish(service, run_id, "done")
    assert stage.run(run_id).answer == "done"
    assert open_run(service, "key:1", agent) is None
    assert _grant_run(stage, agent=agent) != run_id


def test_first_calls_at_once_begin_one_run(stage: Stage) -> None:
    agent = stage.external()

    def one(_: int) -> UUID:
        try:
            return _grant_run(stage, agent=agent)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(one, range(4)))) == 1


def test_a_finish_waits_for_open_calls(stage: Stage) -> None:
    run_id = stage.outside()
    _call(stage, run_id, stage.pay())
    with pytest.raises(TooManyOpen):
        finish(stage.cast.service.actor, run_id, "done")


def test_a_grant_rests_after_its_run_was_stopped(stage: Stage) -> None:
    agent = stage.external()
    run_id = _grant_run(stage, agent=agent)
    cancel(stage.cast.alice.actor, run_id, reason="enough")
    with pytest.raises(GrantRests):
        _grant_run(stage, agent=agent)
    assert run_of_grant(stage.cast.service.actor, "key:1", agent, idle_seconds=0) != run_id
