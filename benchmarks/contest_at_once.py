"""Approvals 0-5 ms after their run has parked: none may fail or get stuck, and the slowest start counts.

`python -m benchmarks.contest_at_once APPROVALS CONC DSN`.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import django

from benchmarks.machine import emit, spread


def main() -> None:
    """Measure and report."""
    approvals, at_once, dsn = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    django.setup()
    from django.db import connections

    from benchmarks.moment import approve, began
    from benchmarks.office import open_office
    from benchmarks.watcher import Watcher
    from runs import queries
    from runs.operations.starting import start_run

    office, watcher = open_office(), Watcher(dsn, every=0.002)

    def one(_: int) -> float | None:
        run_id = start_run(office.alice, agent="one", task="Measure").run_id
        watcher.add(run_id)
        committed = approve(office, *watcher.parked(run_id))
        watcher.finished(run_id)
        done = queries.run(office.bob, run_id).run.status == "succeeded"
        return (began(office, run_id) - committed) * 1000 if done else None

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(max(3, at_once))))
        found = list(pool.map(one, range(approvals)))
    waits = [ms for ms in found if ms is not None]
    emit(failed=found.count(None), start_ms=spread(waits), slowest_ms=round(max(waits), 1))
    watcher.close()
    connections["default"].close_pool()  # type: ignore[attr-defined]


main()
