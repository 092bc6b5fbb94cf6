# /// script
# requires-python = ">=3.12"
# dependencies = ["dbos>=2", "psycopg[binary]>=3.2"]
# ///
"""DBOS: a workflow of five steps that receives the approval as a message before the third."""

import os
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from dbos import DBOS, DBOSConfig, SetWorkflowID  # noqa: E402

from benchmarks.machine import cpu_of, emit, own_cpu  # noqa: E402

RUNS, AT_ONCE, DSN, POSTGRES = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
PARKED: dict[str, threading.Event] = {}
CONFIG: DBOSConfig = {
    "name": "bench",
    "system_database_url": DSN.replace("postgresql://", "postgresql+psycopg://"),
    "log_level": "ERROR",
    "sys_db_pool_size": 20,
    "max_executor_threads": 64,
    "application_version": "v1",
    "executor_id": f"bench{os.getpid()}",
}
DBOS(config=CONFIG)


@DBOS.step()
def tool(number: int) -> dict[str, Any]:
    """One tool."""
    return {"tool": "echo", "x": number, "ok": True}


@DBOS.workflow()
def run(run_id: str) -> list[Any]:
    """One run."""
    found = [tool(1), tool(2)]
    PARKED[run_id].set()
    if not DBOS.recv("approve", 600):
        raise SystemExit("nobody approved")
    return found + [tool(number) for number in (3, 4, 5)]


def one(_: int) -> None:
    """Start, approve when it waits, wait for the end."""
    run_id = str(uuid.uuid4())
    PARKED[run_id] = threading.Event()
    with SetWorkflowID(run_id):
        handle = DBOS.start_workflow(run, run_id)
    PARKED[run_id].wait()
    DBOS.send(run_id, True, "approve")
    if len(handle.get_result()) != 5:
        raise SystemExit("a run was not whole")


DBOS.launch()
with ThreadPoolExecutor(AT_ONCE) as threads:
    list(threads.map(one, range(max(3, AT_ONCE))))
    mine, theirs, began = own_cpu(), cpu_of(POSTGRES), time.perf_counter()
    list(threads.map(one, range(RUNS)))
    took, cpu = time.perf_counter() - began, own_cpu() - mine + cpu_of(POSTGRES) - theirs
emit(runs_s=round(RUNS / took, 1), steps_s=round(5 * RUNS / took, 1), cpu_ms=round(cpu / RUNS * 1000, 1),
     note=f"dbos {version('dbos')}")  # fmt: skip
DBOS.destroy()
