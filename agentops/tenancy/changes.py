"""Writes down each change of a tenant's configuration, in the transaction that makes it, and reads the log again."""

import json
from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from agentops.chain import Link, Verdict, link_hash, verify
from agentops.tenancy.models import Change, ChangeHead
from agentops.tenancy.transaction import show_rows_of

type Fact = str | int | bool | Sequence[str] | None


def record_change(tenant_id: UUID, kind: str, actor: str, **data: Fact) -> None:
    """Append to the tenant's chain. `kind` is a past participle (`key.revoked`), `actor` the label of who did it.

    Call it after the transaction's other locks were taken: the chain's end is locked until the commit.
    """
    show_rows_of(tenant_id)
    ChangeHead.objects.bulk_create([ChangeHead(tenant_id=tenant_id)], ignore_conflicts=True)
    end = ChangeHead.objects.select_for_update().get(tenant_id=tenant_id)
    # Facts are words and whole numbers: their plain JSON with sorted names is their canonical form.
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=list)
    at, seq, prev = timezone.now(), end.length + 1, end.head
    digest = link_hash(prev, tenant_id, None, seq, kind, actor, at, text)
    Change.objects.create(
        tenant_id=tenant_id, seq=seq, kind=kind, actor=actor, at=at, data=text, hash=digest, prev_hash=prev
    )
    end.length, end.head = seq, digest
    end.save(update_fields=["length", "head"])


def verify_changes(tenant_id: UUID) -> Verdict:
    """Whether the tenant's chain holds, inside a tenant transaction."""
    end = ChangeHead.objects.filter(tenant_id=tenant_id).first() or ChangeHead(tenant_id=tenant_id)
    rows = Change.objects.filter(tenant_id=tenant_id).order_by("seq")
    links = (Link(r.seq, r.kind, r.actor, r.at, r.data, r.prev_hash, r.hash) for r in rows.iterator())
    return verify(tenant_id, None, links, end.head, end.length)


def changes_end(tenant_id: UUID) -> tuple[int, str]:
    """How long the tenant's chain is and the hash of its last event."""
    end = ChangeHead.objects.filter(tenant_id=tenant_id).first()
    return (end.length, end.head) if end else (0, "")
