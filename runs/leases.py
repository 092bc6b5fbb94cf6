"""Keeps the leases of calls in flight: a worker that is alive renews them, one that is not loses them soon."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connection

from agentops.tenancy.transaction import tenant_transaction

LEASE_SECONDS = 20
"""The longest lease without a heartbeat. Shorter calls have theirs at once for their whole time."""
BEAT_SECONDS = 5.0

_HELD = {
    "step": ("runs_step", "token", "status = 'running'"),
    "model_call": ("runs_modelrequest", "number", "outcome IS NULL"),
}
"""Where each kind of lease stands: the table, the column of its token, and the condition under which it is held."""

# A run that somebody has locked is left out and renewed by the next beat: what its holder read stays true.
_RENEW = """
WITH mine AS MATERIALIZED (
    SELECT id FROM runs_work_item WHERE id = ANY(%(runs)s) FOR UPDATE SKIP LOCKED
)
UPDATE {table} s SET lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
FROM mine, unnest(%(rows)s::uuid[], %(tokens)s::int[]) held(row_id, token)
WHERE s.run_id = mine.id AND s.tenant_id = %(tenant)s AND s.id = held.row_id AND s.{token} = held.token
  AND s.{condition}
RETURNING s.id
"""


@dataclass(frozen=True)
class Lease:
    """What a worker holds while it makes one call: of a tool, by its step's row, or of a model, by its request's."""

    tenant_id: UUID
    run_id: UUID
    row_id: UUID
    token: int
    kind: Literal["step", "model_call"] = "step"


def renew(leases: Iterable[Lease]) -> set[UUID]:
    """Renew those that are still held. Returns the rows whose lease now ends later."""
    alike: dict[tuple[UUID, str], list[Lease]] = {}
    for lease in leases:
        alike.setdefault((lease.tenant_id, lease.kind), []).append(lease)
    return {row_id for (tenant_id, kind), held in alike.items() for row_id in _renewed(tenant_id, kind, held)}


def _renewed(tenant_id: UUID, kind: str, held: list[Lease]) -> list[UUID]:
    table, token, condition = _HELD[kind]
    with tenant_transaction(tenant_id), connection.cursor() as cursor:
        cursor.execute(
            _RENEW.format(table=table, token=token, condition=condition),
            {
                "tenant": tenant_id,
                "runs": [lease.run_id for lease in held],
                "rows": [lease.row_id for lease in held],
                "tokens": [lease.token for lease in held],
                "seconds": LEASE_SECONDS,
            },
        )
        return [row[0] for row in cursor.fetchall()]
