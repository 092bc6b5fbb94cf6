"""Parks very many runs, which then wait for a person for ever.

`python -m benchmarks.contest_park RUNS DSN`.
"""

import sys

import django
import psycopg

from benchmarks.machine import emit


def main() -> None:
    """One as people do, and copies of it."""
    runs, dsn = int(sys.argv[1]), sys.argv[2]
    django.setup()
    from django.db import connections

    from benchmarks.copies import park_copies
    from benchmarks.office import open_office
    from benchmarks.watcher import Watcher
    from runs.operations.starting import start_run

    office, watcher = open_office(), Watcher(dsn)
    run_id = start_run(office.alice, agent="one", task="Measure").run_id
    watcher.add(run_id)
    watcher.parked(run_id)
    watcher.close()
    park_copies(office.tenant.id, run_id, runs - 1)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("ANALYZE")
    emit(parked=runs)
    connections["default"].close_pool()  # type: ignore[attr-defined]


main()
