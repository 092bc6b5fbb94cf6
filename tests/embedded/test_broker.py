"""The broker in Postgres: the plain role sends and receives, and can make nothing; one that is away is asked again."""

import base64
import json
from typing import Any

import psycopg
import pytest
from celery import current_app
from django.conf import settings
from django.db import ProgrammingError, connections, transaction

from agentops.after_commit import nudge
from agentops.beat import MOST_WAITING, Scheduler
from agentops.databases import keyword_conninfo


def test_a_message_arrives_and_wakes_a_listener() -> None:
    with psycopg.connect(keyword_conninfo(settings.DATABASES["default"]), autocommit=True) as listener:
        listener.execute('LISTEN "pgmq.q_sandbox.INSERT"')
        current_app.signature("agentops.pulse", args=["sandbox"], queue="sandbox").apply_async()
        assert [note.channel for note in listener.notifies(timeout=5, stop_after=1)] == ["pgmq.q_sandbox.INSERT"]
        read = listener.execute("SELECT message FROM pgmq.pop('sandbox')").fetchone()
    assert read is not None
    assert read[0]["headers"]["task"] == "agentops.pulse"


def test_a_consumer_gets_what_was_sent_before_it_came_and_after_and_leaves_nothing_behind() -> None:
    got: list[Any] = []
    pulse = current_app.signature("agentops.pulse", args=["sandbox"], queue="sandbox")
    with current_app.connection_for_read() as connection:
        queue = next(queue for queue in current_app.conf.task_queues if queue.name == "sandbox")
        pulse.apply_async()
        with connection.Consumer([queue], callbacks=[lambda body, message: got.append((body, message.ack()))]):
            while len(got) < 1:
                connection.drain_events(timeout=5)
            pulse.apply_async()
            while len(got) < 2:
                connection.drain_events(timeout=5)
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pgmq.q_sandbox")
        assert cursor.fetchone() == (0,)


def test_a_nudge_is_the_message_that_celery_would_have_sent() -> None:
    current_app.signature("runs.work", args=["sandbox", None], queue="sandbox").apply_async()
    nudge("sandbox")
    with connections["default"].cursor() as cursor:
        cursor.execute("DELETE FROM pgmq.q_sandbox RETURNING message")
        of_celery, ours = (_without_its_ids(json.loads(row[0])) for row in cursor.fetchall())
    assert ours == of_celery


def _without_its_ids(message: dict[str, Any]) -> dict[str, Any]:
    """What two messages of the same task have alike."""
    message["body"] = json.loads(base64.b64decode(message["body"]))
    # Whether its result is ignored Celery leaves to the settings; all are.
    mine = {"headers": ("id", "root_id", "ignore_result"), "properties": ("correlation_id", "delivery_tag", "reply_to")}
    for place, names in mine.items():
        for name in names:
            message[place].pop(name)
    return message


def test_beat_adds_nothing_to_a_queue_that_nobody_empties() -> None:
    beat = Scheduler(current_app, lazy=True)
    beat.setup_schedule()
    with connections["default"].cursor() as cursor, current_app.connection_for_write() as broker:
        producer = current_app.amqp.Producer(broker, auto_declare=False)
        full = "INSERT INTO pgmq.q_sandbox (vt, message) SELECT now(), '{}' FROM generate_series(2, %s)"
        cursor.execute(full, [MOST_WAITING])
        for _ in range(3):
            beat.apply_entry(beat.schedule["pulse-sandbox"], producer)
        cursor.execute("SELECT count(*) FROM pgmq.q_sandbox")
        assert cursor.fetchone() == (MOST_WAITING,)
        cursor.execute("DELETE FROM pgmq.q_sandbox")
        beat.apply_entry(beat.schedule["pulse-sandbox"], producer)
        cursor.execute("DELETE FROM pgmq.q_sandbox RETURNING message->'headers'->>'task'")
        assert cursor.fetchall() == [("agentops.pulse",)]


def test_beat_sends_again_after_its_channel_was_lost() -> None:
    beat = Scheduler(current_app, lazy=True)
    beat.setup_schedule()
    with connections["default"].cursor() as cursor, current_app.connection_for_write() as broker:
        producer = current_app.amqp.Producer(broker, auto_declare=False)
        beat.apply_entry(beat.schedule["pulse-sandbox"], producer)
        broker.close()
        for _ in range(2):
            beat.apply_entry(beat.schedule["pulse-sandbox"], producer)
        cursor.execute("DELETE FROM pgmq.q_sandbox RETURNING message->'headers'->>'task'")
        assert len(cursor.fetchall()) >= 2


def test_a_broker_that_is_away_is_asked_again_every_second() -> None:
    class Patience(Exception):
        """Is over."""

    pauses: list[float] = []

    def still_away(_: Exception, pause: float) -> None:
        pauses.append(pause)
        if len(pauses) == 3:
            raise Patience

    with pytest.raises(Patience), current_app.connection_for_read("redis://127.0.0.1:1/0") as broker:
        broker.ensure_connection(still_away, current_app.conf.broker_connection_max_retries)
    assert pauses == [1, 1, 1]
    assert current_app.conf.broker_connection_max_retries is None


def test_the_plain_role_can_make_no_queue() -> None:
    with (
        pytest.raises(ProgrammingError),
        transaction.atomic(using="default"),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute("SELECT pgmq.create('mine')")


def test_a_queue_survives_no_crash_because_its_messages_are_only_nudges() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'q_control'")
        assert cursor.fetchone() == ("u",)
