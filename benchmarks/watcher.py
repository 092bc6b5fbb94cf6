"""Sees runs park and finish with one small query every few milliseconds, whatever their number."""

import threading
import time
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.machine import cpu_of

_LOOK = """
SELECT r.id, r.finished_at IS NOT NULL, q.id, q.digest FROM runs_run r
LEFT JOIN approvals_approvalrequest q ON q.tenant_id = r.tenant_id AND q.run_id = r.id AND q.status = 'pending'
WHERE r.id = ANY (%s)
"""


class Watcher:
    """`parked` and `finished` return as soon as it is so."""

    def __init__(self, dsn: str, every: float = 0.003) -> None:
        self._connection = psycopg.connect(f"{dsn}&application_name=watcher", autocommit=True)
        self._every = every
        self._open: dict[UUID, tuple[threading.Event, threading.Event]] = {}
        self._asked: dict[UUID, tuple[UUID, str]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def add(self, run_id: UUID) -> None:
        """Watch this run."""
        self._open[run_id] = threading.Event(), threading.Event()

    def parked(self, run_id: UUID) -> tuple[UUID, str]:
        """The request that it waits for, and its digest."""
        self._wait(self._open[run_id][0])
        return self._asked.pop(run_id)

    def finished(self, run_id: UUID) -> None:
        """Return when it has ended."""
        self._wait(self._open[run_id][1])
        del self._open[run_id]

    def cpu(self) -> float:
        """CPU seconds of the looking itself, here and in Postgres: no part of what is measured."""
        assert self._thread.ident is not None
        here = time.clock_gettime(time.pthread_getcpuclockid(self._thread.ident))
        return here + cpu_of(self._connection.info.backend_pid)

    def close(self) -> None:
        """Stop looking."""
        self._stopped.set()
        self._thread.join()
        self._connection.close()

    def _wait(self, event: threading.Event) -> None:
        if not event.wait(60):
            raise SystemExit("a run got stuck")

    def _watch(self) -> None:
        while not self._stopped.wait(self._every):
            if self._open:
                for row in self._connection.execute(_LOOK, [list(self._open)]):
                    self._see(*row)

    def _see(self, run_id: UUID, is_over: bool, request: Any, digest: str) -> None:
        parked, finished = self._open.get(run_id, (threading.Event(), threading.Event()))
        if request is not None and not parked.is_set():
            self._asked[run_id] = request, digest
            parked.set()
        if is_over:
            finished.set()
