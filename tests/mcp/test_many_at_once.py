"""Several processes side by side and many calls in one: the same answers everywhere, and none waits for another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import connections, transaction

from runs.models import WorkItem
from runs.operations.calling import MAX_OPEN
from tests.mcp.agent import told
from tests.mcp.conftest import ERAS, Connect, only_run
from tests.runs.scenario import Stage
from tests.served import Served, serving

CALLS = 20


@pytest.fixture(scope="module")
def second(database: None) -> Iterator[Served]:
    """Another process that serves the same installation."""
    with serving() as product:
        yield product


@pytest.mark.parametrize("era", ERAS)
def test_two_processes_answer_as_one(stage: Stage, connect: Connect, served: Served, second: Served, era: str) -> None:
    agents = [connect(era, server=served, X_AgentOps_Hold="0"), connect(era, server=second, X_AgentOps_Hold="0")]
    assert agents[0].tools() == agents[1].tools()
    results = [told(agents[n % 2].call("t_pay_plain", account=stage.account, amount="5")) for n in range(CALLS)]
    assert {result["approval_id"] for result in results} == {str(stage.pending(only_run(stage)).id)}
    assert stage.statuses(only_run(stage)) == ["held"]


def test_what_one_process_holds_another_answers(
    stage: Stage, connect: Connect, served: Served, second: Served, worker: None
) -> None:
    held = told(connect(server=served, X_AgentOps_Hold="0").call("t_pay_plain", account=stage.account, amount="5"))
    other = connect(server=second)
    assert other.names()
    waiting = other.begin("approval_wait", approval_id=held["approval_id"], timeout_s=4)
    stage.approve(only_run(stage))
    result = told(waiting.result(60))
    while "next" in result:
        result = told(other.call("approval_wait", **result["next"]["arguments"]))
    assert result["done"] == 1


def test_ten_calls_at_once_are_all_answered(stage: Stage, connect: Connect, worker: None) -> None:
    agent = connect()
    calls = [agent.begin("t_read", account=stage.account) for _ in range(10)]
    results = [call.result(60) for call in calls]
    assert [told(result).get("status", told(result).get("code")) for result in results] == ["open"] * 10


def test_a_call_that_waits_for_the_database_holds_up_no_other(stage: Stage, connect: Connect, worker: None) -> None:
    blocked, free = stage.outside(), stage.outside()
    slow, quick = connect(path=f"/mcp/r/{blocked}"), connect(path=f"/mcp/r/{free}")
    assert slow.names() == quick.names()
    with _locked(blocked):
        waiting = [slow.begin("t_page", account=f"x{n}") for n in range(MAX_OPEN)]
        assert told(quick.call("t_read", account=stage.account))["status"] == "open"
        assert not any(call.done() for call in waiting)
    assert all(not call.result(60).is_error for call in waiting)


@contextmanager
def _locked(run_id: UUID) -> Iterator[None]:
    """Somebody has the run's row, in a connection of their own."""
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            WorkItem.objects.select_for_update().get(id=run_id)
            taken.set()
            over.wait(60)
        connections.close_all()

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert taken.wait(20)
    try:
        yield
    finally:
        over.set()
        thread.join(20)
