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
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from celery import Celery, chain  # noqa: E402

from benchmarks.machine import cpu_of, emit, own_cpu  # noqa: E402

THREADS = 8


def app_on(redis_port: int) -> tuple[Celery, Any]:
    """The application and its one task."""
    address = f"redis://127.0.0.1:{redis_port}/0"
    app = Celery("bench", broker=address, backend=address, fixups=[])
    app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1, worker_send_task_events=False)

    @app.task(name="tool")
    def tool(before: list[Any], number: int) -> list[Any]:
        """One tool."""
        return [*before, {"tool": "echo", "x": number, "ok": True}]

    return app, tool


def one(tool: Any) -> None:
    """Start, approve when it waits, wait for the end."""
    first = chain(tool.s([], 1), tool.s(2)).apply_async().get(timeout=60)
    whole = chain(tool.s(first, 3), tool.s(4), tool.s(5)).apply_async().get(timeout=60)
    if len(whole) != 5:
        raise SystemExit("a run was not whole")


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
        with ThreadPoolExecutor(at_once) as threads:
            list(threads.map(lambda _: one(tool), range(max(3, at_once))))
            roots = (worker.pid, redis.pid)
            mine, theirs, began = own_cpu(), cpu_of(*roots), time.perf_counter()
            list(threads.map(lambda _: one(tool), range(runs)))
            took, cpu = time.perf_counter() - began, own_cpu() - mine + cpu_of(*roots) - theirs
    finally:
        for process in (worker, redis):
            process.terminate()
            process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    emit(runs_s=round(runs / took, 1), steps_s=round(5 * runs / took, 1), cpu_ms=round(cpu / runs * 1000, 1),
         note=f"celery {version('celery')}, Redis, {THREADS} threads, nothing durable")  # fmt: skip


if sys.argv[1] == "worker":
    app_on(int(sys.argv[2]))[0].worker_main(
        ["worker", "-P", "threads", "-c", str(THREADS), "--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
    )
else:
    measure(int(sys.argv[1]), int(sys.argv[2]))
