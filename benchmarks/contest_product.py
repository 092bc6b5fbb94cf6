"""The product as a contestant: RUNS runs of five steps and one approval, CONC at once.

`python -m benchmarks.contest_product RUNS CONC DSN PID...`; the pids are the process trees whose CPU counts.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import django

from benchmarks.machine import cpu_of, emit, own_cpu


def main() -> None:
    """Measure and report."""
    runs, at_once, dsn, pids = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], [int(p) for p in sys.argv[4:]]
    django.setup()
    from approvals.domain.decision import Verdict
    from benchmarks.office import open_office
    from benchmarks.watcher import Watcher
    from runs.operations.deciding import decide
    from runs.operations.starting import start_run

    office, watcher = open_office(), Watcher(dsn)

    def one(_: int) -> None:
        run_id = start_run(office.alice, agent="five", task="Measure").run_id
        watcher.add(run_id)
        request_id, digest = watcher.parked(run_id)
        decide(office.bob, request_id, verdict=Verdict.APPROVE, digest=digest)
        watcher.finished(run_id)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(max(3, at_once))))
        used, began = own_cpu() + cpu_of(*pids) - watcher.cpu(), time.perf_counter()
        list(pool.map(one, range(runs)))
        took, cpu = time.perf_counter() - began, own_cpu() + cpu_of(*pids) - watcher.cpu() - used
    emit(runs_s=round(runs / took, 1), steps_s=round(5 * runs / took, 1), cpu_ms=round(cpu / runs * 1000, 1))
    watcher.close()
    from django.db import connections

    connections["default"].close_pool()  # type: ignore[attr-defined]


main()
