"""Celery's scheduler by a clock that nobody sets, which also writes down that it ticks."""

import time
from datetime import datetime, timedelta
from typing import Any

import structlog
from celery import beat
from celery.schedules import maybe_schedule
from django.db import DatabaseError, connection
from django.utils import timezone

from agentops.embedded.tasks import pulse, seen

MOST_WAITING = 1000
_log = structlog.get_logger()
_LOADED = timezone.now() - timedelta(seconds=time.monotonic())


def steady() -> datetime:
    """What a clock shows that nobody sets: by one that is set back an hour, beat would do nothing for an hour."""
    return _LOADED + timedelta(seconds=time.monotonic())


class Entry(beat.ScheduleEntry):
    """Due by the steady clock."""

    def __init__(self, *, schedule: Any, **rest: Any) -> None:
        every: Any = maybe_schedule(schedule, app=rest["app"])
        every.nowfun = steady
        super().__init__(schedule=every, **rest)


class Scheduler(beat.Scheduler):
    """Seen when it starts and with each pulse that it could send: a missing beat is no silent worker."""

    Entry = Entry

    def setup_schedule(self) -> None:
        """As Celery does."""
        super().setup_schedule()
        _ticks()

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> Any:
        """As Celery does, but not into a queue that nobody empties: it would grow for ever."""
        sent = None
        if _waiting(producer, entry.options["queue"]) < MOST_WAITING:
            sent = super().apply_async(entry, producer, advance, **options)
        if entry.task == pulse.name:
            _ticks()
        return sent


def _waiting(producer: Any, queue: str) -> int:
    """How many messages wait; none while that cannot be asked, since what sends next connects again."""
    try:
        return int(producer.channel.queue_declare(queue=queue).message_count)
    except Exception:  # noqa: BLE001 - of a broker that went away the client knows errors of many kinds
        return 0


def _ticks() -> None:
    try:
        seen("beat")
    except DatabaseError as error:
        _log.warning("tick_unseen", error=type(error).__name__)
    finally:
        connection.close()
