"""Finds what nobody took: safe to run on every host at once, bounded, and by the database's clock."""

from django.conf import settings
from django.db import connection

from agentops.after_commit import nudge

MAX_NUDGES = 8

# By an instant that is the same for the whole statement, so that the index is read up to there, and not all of it.
_OVERDUE = """
SELECT q.queue, count(*) FROM unnest(%s::text[]) q (queue), LATERAL (
    SELECT FROM runs_work_item w WHERE w.queue = q.queue AND w.due_at <= statement_timestamp() LIMIT 100
) due GROUP BY q.queue
"""


def sweep() -> dict[str, int]:
    """Nudge each queue that has due runs, at most eight times. Returns how many are due, of each up to 100."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERDUE, [[queue.name for queue in settings.CELERY_TASK_QUEUES]])
        due = dict(cursor.fetchall())
    for queue, count in due.items():
        for _ in range(min(count, MAX_NUDGES)):
            nudge(queue)
    return due
