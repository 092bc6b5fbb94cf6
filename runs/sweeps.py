"""Finds what nobody took: safe to run on every host at once, bounded, and by the database's clock."""

from django.db import connection

from agentops.after_commit import nudge

MAX_NUDGES = 8

_OVERDUE = """
SELECT queue, count(*) FROM (
    SELECT queue FROM runs_work_item WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT 100
) due GROUP BY queue
"""


def sweep() -> dict[str, int]:
    """Nudge each queue that has due runs, at most eight times. Returns how many are due, up to 100 in all."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERDUE)
        due = dict(cursor.fetchall())
    for queue, count in due.items():
        for _ in range(min(count, MAX_NUDGES)):
            nudge(queue)
    return due
