"""A task that notes when it started: one hop of the broker."""

import time
from pathlib import Path

from celery import shared_task


@shared_task(name="benchmarks.hop")
def hop(file: str, sent: float) -> None:
    """Append how long the message took, in milliseconds."""
    took = (time.time() - sent) * 1000
    with Path(file).open("a") as out:
        out.write(f"{took}\n")
