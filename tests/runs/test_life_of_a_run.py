"""A run from its start to its end, with and without people."""

import json
from itertools import pairwise

from agentops.tenancy.ids import uuid7
from runs.operations.advancing import resume
from tests.runs.scenario import Stage


def test_reads_run_without_anybody_and_the_run_succeeds(stage: Stage) -> None:
    slug = stage.agent(
        "reader",
        [{"tool": "t_read", "args": {"account": {"$cel": "input.account"}}, "save_as": "seen"}],
        answer="It is {seen.status}.",
    )
    run_id = stage.start(slug, given={"account": stage.account})
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason, run.answer) == ("succeeded", "completed", "It is open.")
    assert stage.statuses(run_id) == ["succeeded"]
    assert run.finished_at is not None


def test_a_destructive_call_waits_and_runs_once_after_approval(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    assert stage.run(run_id).status == "awaiting_approval"
    assert stage.world.paid == []
    decided = stage.approve(run_id)
    assert decided.status == "approved"
    assert stage.statuses(run_id) == ["cleared"], "approved is not executed"
    stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert [p[:2] for p in stage.world.paid] == [(stage.account, "5")]


def test_a_changed_world_is_shown_and_asked_again_and_a_second_approval_pays_once(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    stage.world.amount = "13950.00"
    stage.approve(run_id)
    stage.work(run_id)
    first, second = stage.requests(run_id)
    assert stage.world.paid == []
    assert (first.status, second.status) == ("superseded", "pending")
    assert first.superseded_by == second.id
    assert "13950.00" in second.checks
    assert "12400.00" in first.checks
    assert "13950.00" in first.checks
    (change,) = json.loads(second.snapshot)["changed"]
    assert ("12400.00" in change["before"], "13950.00" in change["now"]) == (True, True)
    assert first.digest != second.digest
    stage.approve(run_id)
    stage.work(run_id)
    assert len(stage.world.paid) == 1
    assert stage.run(run_id).status == "succeeded"


def test_a_rejected_call_is_told_to_the_planner_and_ends_a_strict_playbook(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    stage.reject(run_id, reason="wrong supplier")
    stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "approval_rejected")
    assert "wrong supplier" in run.ended_because
    assert stage.world.paid == []


def test_the_chain_of_events_is_gapless_and_verifies(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    stage.approve(run_id)
    stage.work(run_id)
    events = stage.events(run_id)
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert all(b.prev_hash == a.hash for a, b in pairwise(events))


def test_resuming_a_finished_run_changes_nothing(stage: Stage) -> None:
    slug = stage.agent("reader", [{"tool": "t_read", "args": {"account": stage.account}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    before = stage.run(run_id)
    resume(stage.tenant_id, run_id, uuid7())
    after = stage.run(run_id)
    assert (before.status, before.head, before.event_seq) == (after.status, after.head, after.event_seq)
