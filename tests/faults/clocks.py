"""A process whose wall clock is wrong: all that the engine, Celery and the broker's client ask for the time.

Not libfaketime: it moves the monotonic deadline of `time.sleep`, too, which then fails.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import celery.worker.request
import kombu.transport.redis
from celery import Celery
from django.utils import timezone

from tests.faults.planting import plant


def turn(file: Path) -> None:
    """From now on the clocks of this process are off by the seconds that the file says."""

    def off() -> float:
        return float(file.read_text() or 0) if file.exists() else 0.0

    def seconds(clock: Callable[[], float]) -> Callable[[], float]:
        return lambda: clock() + off()

    def moments(clock: Callable[..., datetime]) -> Callable[..., datetime]:
        return lambda *args: clock(*args) + timedelta(seconds=off())

    def calendar(kind: type[datetime]) -> type[datetime]:
        class Off(kind):  # type: ignore[misc, valid-type]  # whatever stands there
            @classmethod
            def now(cls, tz: Any = None) -> datetime:
                return datetime.now(tz) + timedelta(seconds=off())  # noqa: TID251 - it is the clock itself

        return Off

    plant(time, "time", seconds)
    plant(kombu.transport.redis, "time", seconds)
    plant(timezone, "now", moments)
    plant(Celery, "now", moments)
    plant(celery.worker.request, "datetime", calendar)
