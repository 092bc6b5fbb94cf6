"""What a run costs beside its rows (goal G2): messages of the broker, and connections once everything is warm."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from celery import current_app
from django.db import connections

from agentops.celery import give_back_connections
from agentops.telling import teller
from runs.tasks import work
from tests.runs.scenario import Stage


def test_a_run_sends_one_message_and_one_more_for_each_approval(stage: Stage) -> None:
    read = {"tool": "t_read", "args": {"account": stage.account}}
    pay = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}
    slug = stage.agent("five", [read, {**read, "again": 1}, pay, {**read, "again": 2}, {**pay, "again": 1}])
    before = _messages()
    run_id = stage.start(slug)
    stage.work(run_id)
    for _ in range(2):
        stage.approve(run_id)
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert _messages() - before == 1 + 2


def test_a_warm_process_opens_no_connection_for_a_task_or_a_request(stage: Stage) -> None:
    read = {"tool": "t_read", "args": {"account": stage.account}}
    slug = stage.agent("two", [read, {**read, "again": 1}])
    client = stage.cast.bob.signed_in()

    def both() -> None:
        run_id = stage.start(slug)
        _as_a_task(lambda: work("control", str(run_id)))
        assert stage.run(run_id).status == "succeeded"
        assert client.get("/runs").status_code == 200

    _fill_pool()
    both()
    teller.finish()
    before, pooled = _open_connections(), _made_by_pool()
    for _ in range(5):
        both()
    teller.finish()
    assert _open_connections() <= before
    assert _made_by_pool() == pooled


def _as_a_task(body: Callable[[], Any]) -> None:
    """In another thread, as Celery's pool runs it, between the two signals that give connections back."""

    def run() -> None:
        give_back_connections()
        body()
        give_back_connections()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def _messages() -> int:
    """How many messages were ever sent to the control queue."""
    assert current_app.conf.broker_url.startswith("pgmq")
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT total_messages FROM pgmq.metrics('control')")
        return int(cursor.fetchall()[0][0])


def _open_connections() -> set[Any]:
    """Who is connected: a process's number and when it began."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pid, backend_start FROM pg_stat_activity WHERE backend_type = 'client backend'")
        return set(cursor.fetchall())


def _made_by_pool() -> int:
    """How many connections Django's pool has made so far, those that it closed again included."""
    return int(_pool().get_stats()["connections_num"])


def _fill_pool() -> None:
    """As after a busy moment: this thread, a task and the teller at the same time, and one more."""
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(_pool().connection())


def _pool() -> Any:
    default: Any = connections["default"]
    return default.pool
