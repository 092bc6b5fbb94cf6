"""Postgres is restarted under load, takes nothing for a while, loses transactions half-way: nothing is half done."""

import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg
import pytest

from tests.faults import shut_doors
from tests.faults.cluster import Cluster
from tests.faults.scenes import Stage
from tests.faults.shut_doors import Shut
from tests.up import until

_BLOCKED = """
SELECT {what} FROM pg_stat_activity
WHERE usename = 'agentops_app' AND wait_event_type = 'Lock' AND query LIKE '%runs_%'
"""


def _restart(cluster: Cluster) -> None:
    cluster.postgres._control("stop", "-m", "immediate", "-w", "-t", "20")
    cluster.postgres.start()


def test_calls_under_way_when_postgres_dies_end_true(stage: Stage) -> None:
    scenes = [stage.approved(agent, "slow") for agent in ("pays", "keyed", "once")]
    until(lambda: all(scene.lines() for scene in scenes), 30)
    _restart(stage.cluster)
    for scene in scenes:
        scene.settled(60)
        assert scene.complaints() == []
    until(stage.cluster.is_ready, 30)


@pytest.mark.parametrize("shut", [shut_doors.without_room, shut_doors.without_connections, shut_doors.silent])
def test_what_comes_while_postgres_takes_nothing_is_recorded_when_it_does(stage: Stage, shut: Shut) -> None:
    calling, deciding = stage.approved("held-pay", "held"), stage.start("pays")
    request = deciding.asked()
    until(calling.lines, 30)
    person, answers = _decides(stage, request)
    with shut(stage.cluster) as is_felt:
        stage.let_go()
        person.start()
        until(is_felt, 30)
    person.join(60)
    stage.hold_again()
    assert answers == [201]
    for scene in (calling, deciding):
        scene.is_done_once()
    until(stage.cluster.is_ready, 30)


@pytest.mark.parametrize("cut", ["its connection", "its process"])
def test_a_decision_that_is_cut_off_in_its_transaction_is_made_once(stage: Stage, cut: str) -> None:
    scene = stage.start("pays")
    person, answers = _decides(stage, scene.asked())
    with stage.cluster.connect() as connection, connection.transaction():
        connection.execute("SELECT 1 FROM runs_work_item WHERE id = %s FOR UPDATE", [scene.run])
        person.start()
        until(lambda: _blocked(stage.cluster, "pid"), 30)
        if cut == "its process":
            stage.cluster.web.kill()
        else:
            _blocked(stage.cluster, "pg_terminate_backend(pid)")
    person.join(60)
    assert answers == [201]
    scene.is_done_once()
    assert scene.kinds().count("decided") == 1


def test_a_call_that_is_being_taken_over_when_postgres_dies_is_taken_over_again(stage: Stage) -> None:
    scene = stage.approved("held-pay", "held")
    until(scene.lines, 30)
    for worker in stage.cluster.workers:
        worker.kill()
    with suppress(psycopg.OperationalError), stage.cluster.connect() as connection, connection.transaction():
        connection.execute("SELECT 1 FROM runs_run WHERE id = %s FOR UPDATE", [scene.run])
        scene.lease_ends()
        until(lambda: _blocked(stage.cluster, "pid"), 30)
        _restart(stage.cluster)
    scene.settled()
    assert scene.complaints() == []
    assert scene.statuses() == ["unknown"]
    assert [line.acted for line in scene.lines()] == [True]
    until(stage.cluster.is_ready, 30)


def _blocked(cluster: Cluster, what: str) -> object:
    return cluster.sql(_BLOCKED.format(what=what))


def _decides(stage: Stage, request: str) -> tuple[threading.Thread, list[int]]:
    answers: list[int] = []
    decide: Callable[[], None] = lambda: answers.append(stage.bob.decide(request))  # noqa: E731
    return threading.Thread(target=decide), answers
