"""One run as a file that an outsider can check without us (docs/verify_run.py)."""

from typing import Any
from uuid import UUID

from agentops import merkle
from agentops.chain import stamp
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import AUDIT_READ
from agentops.tenancy.transaction import tenant_transaction
from runs.checkpoints import OVERLAP, heads_of, leaf
from runs.domain.errors import RunNotFound
from runs.models import Checkpoint, Event, Run


def export_run(actor: Actor, run_id: UUID) -> dict[str, Any]:
    """The run's whole log and, once one was made, the last checkpoint that vouches for it.

    Raises ScopeMissing, RunNotFound.
    """
    require_scope(actor, AUDIT_READ)
    with tenant_transaction(actor.tenant_id):
        run = Run.objects.filter(tenant_id=actor.tenant_id, id=run_id).first()
        if run is None:
            raise RunNotFound
        events = Event.objects.filter(tenant_id=actor.tenant_id, run_id=run_id).order_by("seq")
        return {
            "format": "agentops-run/1",
            "tenant": str(run.tenant_id),
            "run": str(run.id),
            "agent": run.agent_slug,
            "status": run.status,
            "head": run.head,
            "events": [_event(row) for row in events.iterator()],
            "checkpoint": _checkpoint(run),
        }


def _event(row: Event) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "kind": row.kind,
        "actor": row.actor,
        "at": stamp(row.at),
        "data": row.data,
        "hash": row.hash,
        "prev_hash": row.prev_hash,
    }


def _checkpoint(run: Run) -> dict[str, Any] | None:
    rows = Checkpoint.objects.filter(tenant_id=run.tenant_id, at__gte=run.created_at)
    if run.finished_at is not None:
        rows = rows.filter(at__lte=run.finished_at + 2 * OVERLAP)
    for row in rows.order_by("-number").iterator(chunk_size=20):
        heads = heads_of(row)
        places = [place for place, head in enumerate(heads) if head[0] == str(run.id)]
        if places:
            return _proof(row, [leaf(head) for head in heads], places[0], heads[places[0]][1])
    return None


def _proof(row: Checkpoint, leaves: list[str], place: int, seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "path": merkle.path(leaves, place),
        "body": row.body,
        "signature": row.signature,
        "public_key": row.public_key,
    }
