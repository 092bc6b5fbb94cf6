"""The threads in which this door reads and writes the database: fewer than the process has connections."""

from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from channels.db import database_sync_to_async

_THREADS: Final = ThreadPoolExecutor(16, thread_name_prefix="mcp")


def in_thread[**P, R](work: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """`work` for an event loop. A caller that goes away leaves its thread to finish: nobody waits for that.

    Left to itself, all work of a process would share one thread; with a thread for each request, a call that has gone
    would keep the loop until its statement ends, and there would be more threads than connections.
    """
    return database_sync_to_async(work, thread_sensitive=False, executor=_THREADS)
