# /// script
# requires-python = ">=3.12"
# dependencies = ["celery[redis]>=5.5"]
# ///
"""A bare Celery chain on Redis: two tasks, an approval, three more. Nothing of it survives a restart of Redis."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from celery import Celery, chain  # noqa: E402

from benchmarks.machine import Race, emit, spread  # noqa: E402

THREADS = 8


def app_on(redis_port: int) -> tuple[Celery, Any]:
    """The application and its one task."""
    address = f"redis://127.0.0.1:{redis_port}/0"
    app = Celery("bench", broker=address, backend=address, fixups=[])
    app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1, worker_send_task_events=False)

    @app.task(name="tool")
    def tool(before: list[Any], number: int) -> list[Any]:
        """One tool."""
        return [*before, {"tool": "echo", "x": number, "began": time.time()}]

    return app, tool


def one(tool: Any) -> float:
    """Start, approve when it waits, wait for the end."""
    first = chain(tool.s([], 1), tool.s(2)).apply_async().get(timeout=60)
    decided = time.time()
    whole = chain(tool.s(first, 3), tool.s(4), tool.s(5)).apply_async().get(timeout=60)
    if len(whole) != 5:
        raise SystemExit("a run was not whole")
    began: float = whole[2]["began"]
    return (began - decided) * 1000


def measure(runs: int, at_once: int) -> None:
    """With a Redis and a worker of its own, both ended by their pid."""
    if (server := shutil.which("redis-server")) is None:
        raise SystemExit("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    redis = subprocess.Popen([server, "--port", str(port), "--dir", folder, "--save", ""], stdout=subprocess.DEVNULL)
    worker = subprocess.Popen(
        [sys.executable, __file__, "worker", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _, tool = app_on(port)
        figures, waits = Race(runs, at_once, (worker.pid, redis.pid)).of(lambda _: one(tool))
    finally:
        for process in (worker, redis):
            process.terminate()
            process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    note = f"celery {version('celery')}, Redis, {THREADS} threads, nothing durable"
    emit(**figures, resume_ms=spread(waits), note=note)


if sys.argv[1] == "worker":
    app_on(int(sys.argv[2]))[0].worker_main(
        ["worker", "-P", "threads", "-c", str(THREADS), "--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
    )
else:
    measure(int(sys.argv[1]), int(sys.argv[2]))
