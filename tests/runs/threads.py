"""A worker of its own beside the test, with its own connection."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connections

from runs import execution


@contextmanager
def working(run_id: UUID, queue: str = "control") -> Iterator[None]:
    """A worker has the run while the block runs, and has ended when it is left."""
    worker = threading.Thread(target=_work, args=[run_id, queue], daemon=True)
    worker.start()
    yield
    worker.join(20)
    assert not worker.is_alive()


def _work(run_id: UUID, queue: str) -> None:
    try:
        execution.work(queue, run_id)
    finally:
        connections.close_all()
