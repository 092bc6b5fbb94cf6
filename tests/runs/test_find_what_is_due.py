"""However many runs wait, finding what is due reads the index up to now, and nothing of what is due later."""

from typing import Any

import pytest
from django.db import connection, transaction

from runs import loading, sweeps

QUERIES: dict[str, tuple[str, list[Any]]] = {
    "the next run": (loading._PICK_NEXT.replace("$1", "%s"), ["control"]),
    "a sweep": (sweeps._OVERDUE, [["control", "sandbox"]]),
}


@pytest.mark.parametrize("what", QUERIES)
def test_the_moment_bounds_what_is_read(what: str) -> None:
    sql, values = QUERIES[what]
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # With few rows a table is read whole.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {sql}", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    (condition,) = [line for line in plan.splitlines() if "Index Cond" in line and "due_at" in line]
    assert "queue" in condition
    assert "statement_timestamp" in condition
