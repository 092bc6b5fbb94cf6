"""The calls that this process is making now, and the watch that tells them when their run is cancelled."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import DatabaseError, connection

from runs.models import WorkItem
from tools.call import CancelSignal

WATCH_SECONDS = 0.4

_guard = threading.Lock()
_calls: dict[CancelSignal, UUID] = {}
_wake = threading.Event()
_watcher: threading.Thread | None = None


@contextmanager
def watched(run_id: UUID) -> Iterator[CancelSignal]:
    """A signal that is raised within a second of the run's cancellation."""
    signal = CancelSignal()
    with _guard:
        _calls[signal] = run_id
    _ensure_watcher()
    _wake.set()
    try:
        yield signal
    finally:
        with _guard:
            del _calls[signal]


def _ensure_watcher() -> None:
    global _watcher  # noqa: PLW0603 - one thread a process, made on first use so that forks have their own
    with _guard:
        if _watcher is None or not _watcher.is_alive():
            _watcher = threading.Thread(target=_watch, name="cancellation", daemon=True)
            _watcher.start()


def _watch() -> None:
    while True:
        _wake.wait()
        threading.Event().wait(WATCH_SECONDS)
        with _guard:
            calls = dict(_calls)
            if not calls:
                _wake.clear()
        if calls:
            _signal(calls)


def _signal(calls: dict[CancelSignal, UUID]) -> None:
    try:
        cancelled = set(
            WorkItem.objects.filter(id__in=set(calls.values()), cancel_requested=True).values_list("id", flat=True)
        )
    except DatabaseError:
        return
    finally:
        connection.close()
    for signal, run_id in calls.items():
        if run_id in cancelled:
            signal.set()
