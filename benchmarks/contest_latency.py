"""One run at a time: what a free step costs, how soon an approved call starts, how long one hop of the broker takes.

`python -m benchmarks.contest_latency RUNS APPROVALS DSN`.

- `step_ms`: from `step.proposed` to `step.succeeded` in the run's events, less the time that the tool itself took.
- `approval_ms`: from the moment the decision is committed to the moment the tool's function begins.
- `hop_ms`: from sending a message to the first line of its task.
"""

import json
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import django

from benchmarks.machine import emit, spread

_OBSERVED = """
SELECT o.whole, (SELECT e.at FROM runs_event e WHERE e.run_id = s.run_id AND e.kind = 'step.proposed'
                 AND e.data::jsonb ->> 'step' = s.id::text), s.settled_at
FROM runs_step s JOIN runs_observation o ON o.step_id = s.id WHERE s.run_id = %s ORDER BY s.turn
"""


def main() -> None:
    """Measure and report."""
    runs, approvals, dsn = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    django.setup()
    from benchmarks.office import open_office
    from benchmarks.watcher import Watcher

    office, watcher = open_office(), Watcher(dsn)
    steps = [ms for _ in range(runs + 1) for ms in _free(office, watcher)][20:]
    waits = [_approved(office, watcher) for _ in range(approvals + 3)][3:]
    emit(step_ms=spread(steps), approval_ms=spread(waits), hop_ms=spread(_hops(approvals)))
    watcher.close()
    from django.db import connections

    connections["default"].close_pool()  # type: ignore[attr-defined]


def _free(office: Any, watcher: Any) -> list[float]:
    from runs.operations.starting import start_run

    run_id = start_run(office.alice, agent="free", task="Measure").run_id
    watcher.add(run_id)
    watcher.finished(run_id)
    return [_overhead(*row) for row in _observed(office, run_id)]


def _overhead(whole: str, proposed: datetime, settled: datetime) -> float:
    ran = json.loads(whole)
    return ((settled - proposed).total_seconds() - float(ran["ended"]) + float(ran["began"])) * 1000


def _approved(office: Any, watcher: Any) -> float:
    from benchmarks.moment import approve, began
    from runs.operations.starting import start_run

    run_id = start_run(office.alice, agent="one", task="Measure").run_id
    watcher.add(run_id)
    request = watcher.parked(run_id)
    time.sleep(0.05)
    committed = approve(office, *request)
    watcher.finished(run_id)
    return (began(office, run_id) - committed) * 1000


def _observed(office: Any, run_id: UUID) -> list[tuple[str, datetime, datetime]]:
    from django.db import connection

    from agentops.tenancy.transaction import tenant_transaction

    with tenant_transaction(office.tenant.id), connection.cursor() as cursor:
        cursor.execute(_OBSERVED, [run_id])
        return cursor.fetchall()


def _hops(count: int) -> list[float]:
    from benchmarks.tasks import hop

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hops"
        for number in range(count + 3):
            hop.apply_async(args=[str(file), time.time()], queue="control")
            while not file.exists() or len(file.read_text().splitlines()) <= number:
                time.sleep(0.002)
        return [float(line) for line in file.read_text().splitlines()[3:]]


main()
