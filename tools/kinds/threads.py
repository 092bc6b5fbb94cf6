"""Threads for calls that may never come back: those that did wait for the next call, since starting one costs more."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

type Work = Callable[[], object]

_idle: list[SimpleQueue[Work]] = []
# Of a process that forks, only the thread that did so goes on in the child.
os.register_at_fork(after_in_child=_idle.clear)


def in_thread(work: Work) -> None:
    """Start it in a thread where nothing else runs; it raises nothing."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), daemon=True).start()
    inbox.put(work)


def _serve(inbox: SimpleQueue[Work]) -> None:
    while True:
        inbox.get()()
        threading.current_thread().name = "tool-none"
        _idle.append(inbox)
