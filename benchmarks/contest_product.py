"""The product as a contestant: RUNS runs of five steps and one approval, CONC at once.

`python -m benchmarks.contest_product RUNS CONC DSN PID...`; the pids are the process trees whose CPU counts.
"""

import sys
from uuid import UUID

import django
import psycopg

from benchmarks.machine import Race, emit, spread


def main() -> None:
    """Measure and report."""
    runs, at_once, dsn, pids = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], tuple(map(int, sys.argv[4:]))
    django.setup()
    from django.db import connections

    from benchmarks.moment import approve, began
    from benchmarks.office import open_office
    from benchmarks.watcher import Watcher
    from runs.operations.starting import start_run

    office, watcher = open_office(), Watcher(dsn)

    def one(_: int) -> tuple[UUID, float]:
        run_id = start_run(office.alice, agent="five", task="Measure").run_id
        watcher.add(run_id)
        committed = approve(office, *watcher.parked(run_id))
        watcher.finished(run_id)
        return run_id, committed

    with psycopg.connect(dsn, autocommit=True) as counting:

        def commits() -> int:
            ((number,),) = counting.execute("SELECT pg_current_xact_id()::text").fetchall()
            return int(number)

        figures, found = Race(runs, at_once, pids, watcher.cpu, commits).of(one)
    waits = [(began(office, run_id, turn=3) - committed) * 1000 for run_id, committed in found]
    emit(**figures, resume_ms=spread(waits), note="everything on: policy, guards, fencing, events, chain, live")
    watcher.close()
    connections["default"].close_pool()  # type: ignore[attr-defined]


main()
