"""However many runs wait, finding what is due reads the index up to now, and what was approved comes first."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from agentops.tenancy.transaction import tenant_transaction
from runs import loading, sweeps
from runs.models import WorkItem
from tests.runs.scenario import Stage

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


def test_what_was_approved_goes_before_what_came_due_within_the_last_second(stage: Stage) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}
    slug = stage.agent("payer", [pay])
    approved = stage.start(slug)
    stage.work(approved)
    long_due, just_due = stage.start(slug), stage.start(slug)
    with tenant_transaction(stage.tenant_id):
        WorkItem.objects.filter(id=long_due).update(due_at=timezone.now() - timedelta(seconds=5))
    stage.approve(approved)
    with tenant_transaction(stage.tenant_id):
        due = WorkItem.objects.filter(due_at__lte=timezone.now(), id__in=[just_due, approved, long_due])
        assert list(due.order_by("due_at").values_list("id", flat=True)) == [long_due, approved, just_due]
