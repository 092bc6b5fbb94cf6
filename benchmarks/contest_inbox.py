"""The Inbox's first page with few and with very many pending requests, interleaved.

`python -m benchmarks.contest_inbox DSN SIZE...`; each size has a tenant of its own. The page is asked of Django itself,
so that no server's noise is in it.
"""

import sys
import time
from typing import Any

import django
import psycopg

from benchmarks.machine import emit, percentile

ROUNDS = 40


def main() -> None:
    """Measure and report."""
    dsn, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
    django.setup()
    from django.conf import settings
    from django.test import Client

    from benchmarks.office import open_office

    settings.ALLOWED_HOSTS.append("testserver")
    clients = {}
    for size in sizes:
        office = open_office()
        fill(dsn, office, size)
        clients[size] = Client()
        clients[size].force_login(office.bob_user, "django.contrib.auth.backends.ModelBackend")
    took: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(ROUNDS + 5):
        for size, client in clients.items():
            took[size].append(_page(client))
    ms = {size: round(percentile(values[5:], 50), 1) for size, values in took.items()}
    emit(ms=ms, queries={size: _queries(client) for size, client in clients.items()})
    from django.db import connections

    connections["default"].close_pool()  # type: ignore[attr-defined]


def _page(client: Any) -> float:
    began = time.perf_counter()
    answer = client.get("/inbox")
    took = (time.perf_counter() - began) * 1000
    if answer.status_code != 200 or b"data-row" not in answer.content:
        raise SystemExit(f"the Inbox answered {answer.status_code}")
    return took


def _queries(client: Any) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as found:
        client.get("/inbox")
    return len([query for query in found.captured_queries if query["sql"].lstrip().upper().startswith("SELECT")])


def fill(dsn: str, office: Any, size: int) -> None:
    """Park one run as people do, and copy it."""
    from benchmarks.copies import park_copies
    from benchmarks.watcher import Watcher
    from runs.operations.starting import start_run

    watcher = Watcher(dsn)
    run_id = start_run(office.alice, agent="one", task="Measure").run_id
    watcher.add(run_id)
    watcher.parked(run_id)
    watcher.close()
    park_copies(office.tenant.id, run_id, size - 1)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("ANALYZE")


main()
