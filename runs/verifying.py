"""Proves or disproves that nobody changed the log: the chain of a run, and the chain of a tenant with all run heads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agentops.chain import Link, Verdict, verify
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import verify_changes
from agentops.tenancy.scopes import AUDIT_READ
from agentops.tenancy.transaction import tenant_transaction
from runs.checkpoints import first_bad_checkpoint
from runs.domain.errors import RunNotFound
from runs.models import Checkpoint, Event, Run

MOST_NAMED = 100
_BAD_HEADS = """
SELECT r.id FROM runs_run r
LEFT JOIN (SELECT run_id, count(*) AS length, max(seq) AS last FROM runs_event WHERE tenant_id = %s GROUP BY run_id) e
    ON e.run_id = r.id
LEFT JOIN runs_event l ON l.tenant_id = r.tenant_id AND l.run_id = r.id AND l.seq = r.event_seq
WHERE r.tenant_id = %s AND (e.length, e.last, l.hash) IS DISTINCT FROM (r.event_seq::bigint, r.event_seq, r.head)
ORDER BY r.id LIMIT %s
"""


@dataclass(frozen=True)
class TenantVerdict:
    """The tenant's own chain, the runs whose log does not end where the run says (at most `MOST_NAMED` of them), and
    the first checkpoint that does not hold."""

    changes: Verdict
    runs: int
    bad_runs: Sequence[UUID]
    checkpoints: int
    bad_checkpoint: int | None

    @property
    def ok(self) -> bool:
        return self.changes.first_bad is None and not self.bad_runs and self.bad_checkpoint is None


def verify_run(actor: Actor, run_id: UUID) -> Verdict:
    """Every event of one run. Raises ScopeMissing, RunNotFound."""
    require_scope(actor, AUDIT_READ)
    with tenant_transaction(actor.tenant_id):
        run = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).first()
        if run is None:
            raise RunNotFound
        return _verify(run)


def verify_tenant(actor: Actor) -> TenantVerdict:
    """The tenant's chain, and where each run's log ends. Raises ScopeMissing."""
    require_scope(actor, AUDIT_READ)
    with tenant_transaction(actor.tenant_id):
        runs = Run.objects.filter(tenant_id=actor.tenant_id).count()
        return TenantVerdict(
            changes=verify_changes(actor.tenant_id),
            runs=runs,
            bad_runs=_bad_heads(actor.tenant_id),
            checkpoints=Checkpoint.objects.filter(tenant_id=actor.tenant_id).count(),
            bad_checkpoint=first_bad_checkpoint(actor.tenant_id),
        )


def verify_everything(tenant_id: UUID) -> Iterator[tuple[UUID | None, Verdict]]:
    """The tenant's chain (None), then every event of every run: for the operator of the installation."""
    with tenant_transaction(tenant_id):
        yield None, verify_changes(tenant_id)
        for run in Run.objects.filter(tenant_id=tenant_id).order_by("id").iterator():
            yield run.id, _verify(run)


def broken_checkpoint(tenant_id: UUID) -> int | None:
    """The first checkpoint of the tenant that does not hold, for the operator of the installation."""
    with tenant_transaction(tenant_id):
        return first_bad_checkpoint(tenant_id)


def _verify(run: Run) -> Verdict:
    rows = Event.objects.filter(tenant_id=run.tenant_id, run_id=run.id).order_by("seq")
    links = (Link(r.seq, r.kind, r.actor, r.at, r.data, r.prev_hash, r.hash) for r in rows.iterator())
    return verify(run.tenant_id, run.id, links, run.head, run.event_seq)


def _bad_heads(tenant_id: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_BAD_HEADS, [tenant_id, tenant_id, MOST_NAMED])
        return [row[0] for row in cursor.fetchall()]
