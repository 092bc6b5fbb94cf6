"""How processes come back to a broker that was away: every second, for as long as it takes."""

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection

_EVERY_SECOND = {"interval_start": 1, "interval_step": 0, "interval_max": 1}


class PatientConnection(Connection):
    """Celery itself waits two seconds longer after each attempt, up to half a minute, and has no setting for it."""

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        """Connected when this returns."""
        return super().ensure_connection(*args, **{**_EVERY_SECOND, **options})


class Broker(AMQP):
    """Celery's own way of talking to it, with these connections."""

    Connection = PatientConnection
