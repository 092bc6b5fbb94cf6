"""The task that shows health: it went through the broker and a worker ran it."""

from typing import Any

from celery import current_app, shared_task
from celery.signals import worker_ready
from django.db import connection

from tools.sandbox.level import level


@shared_task(name="agentops.pulse", ignore_result=True)
def pulse(queue: str) -> None:
    """Write down that `queue` is served."""
    seen(queue, str(level()) if queue == "sandbox" else "")


def seen(what: str, said: str = "") -> None:
    """Write down, by the database's clock, that this was seen to work, and what it said of itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO embedded_pulse (queue, at, said) VALUES (%s, now(), %s)"
            " ON CONFLICT (queue) DO UPDATE SET at = now(), said = excluded.said",
            [what, said],
        )


@worker_ready.connect
def show_health_at_once(**_: Any) -> None:
    """A fresh worker is asked for a pulse without waiting for beat."""
    for queue in ("control", "sandbox"):
        current_app.signature("agentops.pulse", args=[queue], queue=queue).apply_async(expires=10)
