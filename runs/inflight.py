"""The calls that this process is making now, and the thread that renews their leases and hears of cancellations."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import Error, connection

from runs.leases import BEAT_SECONDS, Lease, renew
from runs.models import WorkItem
from tools.call import CancelSignal

WATCH_SECONDS = 0.4


@dataclass(eq=False)
class _Call:
    lease: Lease
    signal: CancelSignal
    ends: float
    next_beat: float


_guard = threading.Lock()
_calls: set[_Call] = set()
_wake = threading.Event()
_watcher: threading.Thread | None = None


@contextmanager
def watched(lease: Lease, ends: float) -> Iterator[CancelSignal]:
    """A signal that is raised within a second of the run's cancellation; the lease is renewed until `ends`."""
    call = _Call(lease, CancelSignal(), ends, next_beat=time.monotonic() + BEAT_SECONDS)
    with _guard:
        _calls.add(call)
    _ensure_watcher()
    _wake.set()
    try:
        yield call.signal
    finally:
        with _guard:
            _calls.discard(call)


def _ensure_watcher() -> None:
    global _watcher  # noqa: PLW0603 - one thread a process, made on first use so that forks have their own
    with _guard:
        if _watcher is None or not _watcher.is_alive():
            _watcher = threading.Thread(target=_watch, name="calls in flight", daemon=True)
            _watcher.start()


def _watch() -> None:
    while True:
        _wake.wait()
        threading.Event().wait(WATCH_SECONDS)
        with _guard:
            calls = tuple(_calls)
            if not calls:
                _wake.clear()
        if calls:
            _attend(calls)


def _attend(calls: tuple[_Call, ...]) -> None:
    """A database that is away is asked again at the next round; the lease outlives several of them."""
    try:
        _signal(calls)
        _beat(calls)
    except Error:
        return
    finally:
        connection.close()


def _signal(calls: tuple[_Call, ...]) -> None:
    runs = {call.lease.run_id for call in calls}
    cancelled = set(WorkItem.objects.filter(id__in=runs, cancel_requested=True).values_list("id", flat=True))
    for call in calls:
        if call.lease.run_id in cancelled:
            call.signal.set()


def _beat(calls: tuple[_Call, ...]) -> None:
    now = time.monotonic()
    due = [call for call in calls if call.next_beat <= now < call.ends]
    renewed = renew(call.lease for call in due)
    for call in due:
        if call.lease.row_id in renewed:
            call.next_beat = now + BEAT_SECONDS
