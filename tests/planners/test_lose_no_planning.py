"""Planning is claimed like a call: a lost worker is charged once, asked again at most three times, and fenced off."""

import socket
import threading
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from agentops.tenancy.ids import uuid7
from runs import inflight, leases
from runs.domain.model_answer import ModelAnswer, ToolUse
from runs.domain.model_reply import ModelUsage, Replied
from runs.operations import advancing, asking_model
from runs.operations.advancing import Probe, Think
from runs.operations.cancelling import cancel
from runs.thinking import think
from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking, asked_only, lease_ends
from tests.tools.server import Received, silent


def test_a_lost_request_is_charged_once_and_made_again(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": stage.account})), saying("Done.")) as server:
        run_id = stage.thinker(server)
        lost = asked_only(run_id)
        lease_ends(stage, run_id)
        stage.work(run_id)
    first, second, third = stage.calls(run_id)
    assert [first.outcome, second.outcome, third.outcome] == ["lost", "answered", "answered"]
    assert (first.turn, second.turn, third.turn) == (1, 1, 2)
    assert stage.budget(run_id)[0].tokens == first.reserved_tokens + 240
    answer = ModelAnswer("", (ToolUse("t_pay_plain", "{}"),), "tool_call")
    late = Replied(answer, ModelUsage(7, 7))
    advancing.resume(stage.tenant_id, run_id, uuid7(), replied=(lost, late))
    assert stage.budget(run_id)[0].tokens == first.reserved_tokens + 240
    assert [s.tool for s in stage.steps(run_id)] == ["t_read"]
    assert stage.kinds(run_id)[-1] == "late_answer_refused"


def test_a_planning_is_made_again_at_most_three_times(stage: Thinking) -> None:
    with model_serving(saying("Never asked.")) as server:
        run_id = stage.thinker(server)
        for _ in range(4):
            asked_only(run_id)
            lease_ends(stage, run_id)
        stage.work(run_id)
        assert server.requests == []
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "planner_failed")
    calls = stage.calls(run_id)
    assert [c.outcome for c in calls] == ["lost"] * 4
    assert stage.budget(run_id)[0].tokens == sum(c.reserved_tokens for c in calls)
    assert stage.budget(run_id)[1].tokens == 0


def test_nothing_of_the_database_is_held_while_a_model_thinks(stage: Thinking) -> None:
    default: Any = connections["default"]
    free = threading.Event()

    def held() -> int:
        found = default.pool.get_stats()
        return int(found["pool_size"] - found["pool_available"])

    def answer(connection: socket.socket, request: Received, stop: threading.Event) -> bool:
        ends = time.monotonic() + 20
        while not free.is_set() and time.monotonic() < ends:
            if held() <= by_others:
                free.set()
        return saying("Done.")(connection, request, stop)

    with model_serving(answer) as server:
        run_id = stage.thinker(server)
        default.close()
        by_others = held()
        stage.work(run_id)
    assert stage.run(run_id).answer == "Done."
    assert free.is_set()


def test_nobody_asks_while_somebody_asks(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server)
        asked_only(run_id)
        stage.is_due(run_id)
        stage.work(run_id)
        assert server.requests == []
        assert stage.due(run_id) == stage.calls(run_id)[0].lease_until


def test_a_long_answer_outlives_its_first_lease(stage: Thinking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_model, "LEASE_SECONDS", 2)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 2)
    monkeypatch.setattr(inflight, "BEAT_SECONDS", 0.3)
    with model_serving(silent) as server:
        run_id = stage.thinker(server, seconds=30)
        worker = threading.Thread(target=_work, args=(stage, run_id))
        worker.start()
        assert server.server.arrived.wait(60)
        first = stage.calls(run_id)[0].lease_until
        ends = time.monotonic() + 30
        while stage.calls(run_id)[0].lease_until < first + timedelta(seconds=3):
            assert time.monotonic() < ends
            stage.work(run_id)
        assert [c.outcome for c in stage.calls(run_id)] == [None]
        server.server.closing.set()
        cancel(stage.cast.alice.actor, run_id)
        worker.join(20)
    assert stage.run(run_id).status == "cancelled"


def test_an_answer_that_waits_for_its_conditions_survives_its_worker(stage: Thinking) -> None:
    pay = ("t_pay", {"account": stage.account, "amount": "5"})
    with model_serving(calling(pay), saying("Done.")) as server:
        run_id = stage.thinker(server)
        found = advancing.begin("control", run_id, uuid7())
        assert isinstance(found, Think)
        found = advancing.resume(stage.tenant_id, run_id, uuid7(), replied=(found.asked, think(found.asked)))
        assert isinstance(found, Probe)
        stage.is_due(run_id)
        stage.work(run_id)
        assert len(server.requests) == 1
    assert stage.statuses(run_id) == ["held"]


def _work(stage: Thinking, run_id: UUID) -> None:
    stage.work(run_id)
    connections.close_all()
