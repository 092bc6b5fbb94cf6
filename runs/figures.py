"""What an operator watches, counted in the database: every process tells the same, whoever did the work.

What has ended only grows, so it is counted once: each look counts what is new since the last, and the last minute
again, since a transaction may commit after a later one. Labels are words of the product; no tenant, tool or person is
named.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection
from django.db.backends.utils import CursorWrapper

from agentops.tenancy.models import Tenant
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.run import OPEN

CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
DECISION_SECONDS = (5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0)
LATEST_COMMIT = timedelta(seconds=60)
"""A row may become visible this long after the moment that is written in it."""

_QUEUES = """
SELECT queue, count(*), extract(epoch FROM clock_timestamp() - min(due_at))::float8
FROM runs_work_item WHERE due_at <= statement_timestamp() GROUP BY queue
"""
_NOW = """
SELECT 'run', status, count(*), 0::float8 FROM runs_run WHERE status = ANY (%(open)s) GROUP BY 2
UNION ALL SELECT 'request', risk, count(*), extract(epoch FROM clock_timestamp() - min(opened_at))::float8
  FROM approvals_approvalrequest WHERE status = 'pending' GROUP BY 2
UNION ALL SELECT 'unknown', risk, count(*), 0 FROM runs_step WHERE status = 'unknown' GROUP BY 2
"""
# Every row that ends has an event of the same moment, and events are found by their time.
_ENDED = """
WITH touched AS MATERIALIZED (SELECT DISTINCT run_id FROM runs_event WHERE at > %(since)s),
calls AS (
  SELECT s.tool_version, s.risk, width_bucket(extract(epoch FROM a.finished_at - a.started_at)::float8, %(calls)s) b,
    a.finished_at <= %(until)s settled, count(*) n,
    sum(extract(epoch FROM a.finished_at - a.started_at))::float8 seconds
  FROM runs_step s JOIN runs_attempt a ON a.tenant_id = s.tenant_id AND a.step_id = s.id
  WHERE a.finished_at > %(since)s AND {touched} GROUP BY 1, 2, 3, 4
)
SELECT 'run', status, terminal_reason, 0 b, finished_at <= %(until)s settled, count(*), 0::float8
  FROM runs_run s WHERE finished_at > %(since)s AND {touched_run} GROUP BY 2, 3, 5
UNION ALL SELECT 'step', status, risk, 0, settled_at <= %(until)s, count(*), 0
  FROM runs_step s WHERE settled_at > %(since)s AND {touched} GROUP BY 2, 3, 5
UNION ALL SELECT 'call', v.spec::json ->> 'kind', c.risk, c.b, c.settled, sum(n)::bigint, sum(seconds)
  FROM calls c JOIN tools_toolversion v ON v.id = c.tool_version GROUP BY 2, 3, 4, 5
UNION ALL SELECT 'decision', status, risk, width_bucket(extract(epoch FROM decided_at - opened_at)::float8, %(waits)s),
  decided_at <= %(until)s, count(*), sum(extract(epoch FROM decided_at - opened_at))::float8
  FROM approvals_approvalrequest WHERE status <> 'pending' AND decided_at > %(since)s GROUP BY 2, 3, 4, 5
"""
_NEW = _ENDED.format(touched="s.run_id IN (TABLE touched)", touched_run="s.id IN (TABLE touched)")
_ALL = _ENDED.format(touched="true", touched_run="true")

type Key = tuple[str, str, str, int]
"""What ended, two words about it, and the place of its seconds among the bounds."""


@dataclass(frozen=True)
class Tally:
    """How many ended since ever, and the seconds that they took together."""

    number: Counter[Key] = field(default_factory=Counter)
    seconds: Counter[Key] = field(default_factory=Counter)

    def plus(self, other: "Tally") -> "Tally":
        return Tally(self.number + other.number, self.seconds + other.seconds)


@dataclass(frozen=True)
class Figures:
    """`queues` by name, and `now` by (what, word): how many, and the seconds of the oldest."""

    queues: Mapping[str, tuple[int, float]]
    now: Mapping[tuple[str, str], tuple[int, float]]
    ended: Tally


class Counted:
    """What this process has counted so far."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._until: datetime | None = None
        self._lasting = Tally()

    def look(self) -> Figures:
        """The figures of all tenants together; one tenant's rows at a time, as everywhere."""
        with self._guard:
            moment, queues = _queues()
            until = moment - LATEST_COMMIT
            now: dict[tuple[str, str], tuple[int, float]] = {}
            lasting, fresh = Tally(), Tally()
            for tenant_id in Tenant.objects.values_list("id", flat=True):
                with tenant_transaction(tenant_id), connection.cursor() as cursor:
                    _take_now(cursor, now)
                    _take_ended(cursor, self._until, until, lasting, fresh)
            self._lasting, self._until = self._lasting.plus(lasting), until
            return Figures(queues, now, self._lasting.plus(fresh))


def _queues() -> tuple[datetime, dict[str, tuple[int, float]]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        ((moment,),) = cursor.fetchall()
        cursor.execute(_QUEUES)
        return moment, {queue: (depth, oldest) for queue, depth, oldest in cursor.fetchall()}


def _take_now(cursor: CursorWrapper, now: dict[tuple[str, str], tuple[int, float]]) -> None:
    cursor.execute(_NOW, {"open": [status.value for status in OPEN]})
    for what, word, number, oldest in cursor.fetchall():
        before = now.get((what, word), (0, 0.0))
        now[what, word] = (before[0] + number, max(before[1], oldest))


def _take_ended(cursor: CursorWrapper, since: datetime | None, until: datetime, lasting: Tally, fresh: Tally) -> None:
    times = {"since": since or "-infinity", "until": until}
    cursor.execute(_NEW if since else _ALL, {**times, "calls": [*CALL_SECONDS], "waits": [*DECISION_SECONDS]})
    for what, word, other, place, settled, number, seconds in cursor.fetchall():
        tally = lasting if settled else fresh
        tally.number[what, word, other, place] += number
        tally.seconds[what, word, other, place] += seconds
