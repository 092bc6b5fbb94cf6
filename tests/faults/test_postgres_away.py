"""Postgres is restarted under load and loses connections in the middle of transactions: nothing is half done."""

import threading

from tests.faults.oracle import Promises, judge
from tests.faults.scenes import Scene, Stage
from tests.up import until

_BLOCKED = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE usename = 'agentops_app' AND wait_event_type = 'Lock' AND query LIKE '%runs_work_item%'
"""


def test_calls_under_way_when_postgres_dies_end_true(stage: Stage) -> None:
    scenes = [stage.approved(agent, "slow") for agent in ("pays", "keyed", "once", "free")[:3]]
    until(lambda: all(scene.lines() for scene in scenes), 30)
    stage.cluster.postgres._control("stop", "-m", "immediate", "-w", "-t", "20")
    stage.cluster.postgres.start()
    for scene in scenes:
        scene.settled(60)
        assert judge(scene.facts(), Promises()).broken == []
    until(stage.cluster.is_ready, 30)


def test_a_decision_whose_connection_is_cut_in_its_transaction_is_made_once(stage: Stage) -> None:
    scene = stage.start("pays")
    request = scene.asked()
    answers: list[int] = []
    person = threading.Thread(target=lambda: answers.append(stage.bob.decide(request)))
    with stage.cluster.connect() as connection, connection.transaction():
        connection.execute("SELECT 1 FROM runs_work_item WHERE id = %s FOR UPDATE", [scene.run])
        person.start()
        until(lambda: stage.cluster.sql(_BLOCKED), 30)
    person.join(60)
    assert answers == [201]
    _ends_well(scene)
    assert scene.kinds().count("decided") == 1


def _ends_well(scene: Scene) -> None:
    scene.settled()
    assert judge(scene.facts(), Promises()).broken == []
    assert set(scene.statuses()) == {"succeeded"}
