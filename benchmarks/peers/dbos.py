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
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

import psycopg  # noqa: E402
from dbos import DBOS, DBOSConfig, SetWorkflowID  # noqa: E402

from benchmarks.machine import Race, emit, spread  # noqa: E402

RUNS, AT_ONCE, DSN, POSTGRES = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
PARKED: dict[str, threading.Event] = {}
STARTED: dict[str, float] = {}
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
def tool(run_id: str, number: int) -> dict[str, Any]:
    """One tool."""
    if number == 3:
        STARTED[run_id] = time.perf_counter()
    return {"tool": "echo", "x": number, "ok": True}


@DBOS.workflow()
def run(run_id: str) -> list[Any]:
    """One run."""
    found = [tool(run_id, 1), tool(run_id, 2)]
    PARKED[run_id].set()
    if not DBOS.recv("approve", 600):
        raise SystemExit("nobody approved")
    return found + [tool(run_id, number) for number in (3, 4, 5)]


def one(_: int) -> float:
    """Start, approve when it waits, wait for the end."""
    run_id = str(uuid.uuid4())
    PARKED[run_id] = threading.Event()
    with SetWorkflowID(run_id):
        handle = DBOS.start_workflow(run, run_id)
    PARKED[run_id].wait()
    decided = time.perf_counter()
    DBOS.send(run_id, True, "approve")
    if len(handle.get_result()) != 5:
        raise SystemExit("a run was not whole")
    return (STARTED.pop(run_id) - decided) * 1000


def commits() -> int:
    """The number of the last transaction that wrote."""
    ((number,),) = COUNTING.execute("SELECT pg_current_xact_id()::text").fetchall()
    return int(number)


DBOS.launch()
with psycopg.connect(DSN, autocommit=True) as COUNTING:
    figures, waits = Race(RUNS, AT_ONCE, (POSTGRES,), commits=commits).of(one)
emit(**figures, resume_ms=spread(waits), note=f"dbos {version('dbos')}")
DBOS.destroy()
