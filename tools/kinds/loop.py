"""One event loop on one background thread per process: every HTTP call of every worker thread shares it."""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from tools.call import CancelSignal

_guard = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """The running loop of this process; a forked child starts its own."""
    global _loop  # noqa: PLW0603 - one per process is the point
    with _guard:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="tool-http", daemon=True).start()
        return _loop


@contextmanager
def torn_down_by(signal: CancelSignal) -> Iterator[None]:
    """The running task is cancelled when the signal is raised."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)

    signal.call_back(stop)
    try:
        yield
    finally:
        signal.forget(stop)


def run_here[T](work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it in this thread."""
    return asyncio.run_coroutine_threadsafe(work, background_loop()).result()


def _after_fork() -> None:
    global _guard, _loop
    _guard, _loop = threading.Lock(), None


os.register_at_fork(after_in_child=_after_fork)
