"""Signs where the logs end, every few minutes, so that even a whole log written anew is found out."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import batched
from typing import Any
from uuid import UUID

import structlog
from django.db import connection

from agentops import merkle
from agentops.chain import stamp
from agentops.signing import is_signed, public_key, sign
from agentops.tenancy.changes import changes_end
from agentops.tenancy.ids import uuid7_floor
from agentops.tenancy.models import Tenant
from agentops.tenancy.transaction import tenant_transaction
from runs.models import Checkpoint, Event, Run
from tools.domain.canonical import canonical, parse

MOST_HEADS = 5_000
OVERLAP = timedelta(minutes=10)
"""Events get their time before they are committed; those of the last minutes are looked at twice."""

type Head = tuple[str, int, str]

_log = structlog.get_logger()


def seal_all() -> int:
    """One checkpoint, or none where nothing changed, for every tenant. Returns how many were written."""
    return sum(len(seal(tenant_id)) for tenant_id in list(Tenant.objects.values_list("id", flat=True)))


def seal(tenant_id: UUID) -> list[Checkpoint]:
    """Sign where the tenant's logs end now. Safe on every host at once: one writes, the others see nothing new."""
    with tenant_transaction(tenant_id):
        _take_turn(tenant_id)
        last = Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-number").first()
        heads, changes = _heads_since(tenant_id, last), changes_end(tenant_id)
        if last is not None and _says_already(last, heads, changes):
            return []
        written: list[Checkpoint] = []
        for part in list(batched(heads, MOST_HEADS)) or [()]:
            last = _signed(tenant_id, last, part, changes)
            written.append(last)
        Checkpoint.objects.bulk_create(written)
        return written


def first_bad_checkpoint(tenant_id: UUID) -> int | None:
    """The number of the first checkpoint that is not as it was signed, or that a log contradicts."""
    prev, expected = "", 1
    for row in Checkpoint.objects.filter(tenant_id=tenant_id).order_by("number").iterator(chunk_size=50):
        if row.number != expected or not _holds(row, prev):
            return min(row.number, expected)
        prev, expected = _digest(row), expected + 1
    return None


def leaf(head: Sequence[Any]) -> str:
    """The text of one leaf of the tree."""
    return canonical(list(head))


def heads_of(row: Checkpoint) -> list[Head]:
    """The leaves of a checkpoint's tree."""
    found: Any = parse(row.heads)
    return [(run, int(seq), digest) for run, seq, digest in found]


def _take_turn(tenant_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"checkpoint {tenant_id}"])


def _heads_since(tenant_id: UUID, last: Checkpoint | None) -> list[Head]:
    rows = Run.objects.filter(tenant_id=tenant_id)
    if last is not None:
        newer = Event.objects.filter(tenant_id=tenant_id, id__gte=uuid7_floor(last.at - OVERLAP))
        rows = rows.filter(id__in=newer.values("run_id"))
    return [(str(r.id), r.event_seq, r.head) for r in rows.only("id", "event_seq", "head").order_by("id")]


def _says_already(last: Checkpoint, heads: Sequence[Head], changes: tuple[int, str]) -> bool:
    body: Any = parse(last.body)
    return (body["changes"], body["changes_head"]) == changes and set(heads) <= set(heads_of(last))


def _signed(tenant_id: UUID, last: Checkpoint | None, heads: Sequence[Head], changes: tuple[int, str]) -> Checkpoint:
    number, at = (last.number + 1 if last else 1), _clock()
    body = canonical(
        {
            "v": 1,
            "tenant": str(tenant_id),
            "number": number,
            "at": stamp(at),
            "prev": _digest(last) if last else "",
            "changes": changes[0],
            "changes_head": changes[1],
            "runs": len(heads),
            "root": merkle.root([leaf(head) for head in heads]),
        }
    )
    return Checkpoint(
        tenant_id=tenant_id,
        number=number,
        at=at,
        body=body,
        heads=canonical([list(head) for head in heads]),
        signature=sign(body),
        public_key=public_key(),
    )


def _holds(row: Checkpoint, prev: str) -> bool:
    body: Any = parse(row.body)
    heads = heads_of(row)
    return (
        is_signed(row.body, row.signature, row.public_key)
        and (body["number"], body["prev"], body["tenant"]) == (row.number, prev, str(row.tenant_id))
        and merkle.root([leaf(head) for head in heads]) == body["root"]
        and not any(_contradicted(row.tenant_id, heads))
    )


def _contradicted(tenant_id: UUID, heads: Sequence[Head]) -> Iterator[Head]:
    for part in batched(heads, 500):
        rows = Event.objects.filter(tenant_id=tenant_id, run_id__in=[run for run, _, _ in part])
        found = {(str(run), seq): digest for run, seq, digest in rows.values_list("run_id", "seq", "hash")}
        yield from (head for head in part if found.get((head[0], head[1])) != head[2])


def _digest(row: Checkpoint) -> str:
    return sha256(row.body.encode()).hexdigest()


def _clock() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
