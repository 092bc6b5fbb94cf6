"""Celery's scheduler, which also writes down that it ticks: a missing beat is no silent worker."""

from typing import Any

import structlog
from celery import beat
from django.db import DatabaseError, connection

from agentops.embedded.tasks import pulse, seen

_log = structlog.get_logger()


class Scheduler(beat.Scheduler):
    """Seen when it starts and with each pulse that it could send."""

    def setup_schedule(self) -> None:
        """As Celery does."""
        super().setup_schedule()
        _ticks()

    def apply_async(self, entry: Any, *args: Any, **options: Any) -> Any:
        """As Celery does."""
        sent = super().apply_async(entry, *args, **options)
        if entry.task == pulse.name:
            _ticks()
        return sent


def _ticks() -> None:
    try:
        seen("beat")
    except DatabaseError as error:
        _log.warning("tick_unseen", error=type(error).__name__)
    finally:
        connection.close()
