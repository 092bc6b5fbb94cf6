"""The per-run hash chain: what exactly is hashed, and how a chain is checked."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from tools.domain.canonical import canonical


@dataclass(frozen=True)
class Link:
    """One event as the chain sees it; `data` is canonical text."""

    seq: int
    kind: str
    actor: str
    at: datetime
    data: str
    prev_hash: str
    hash: str


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC with six decimals and Z."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def link_hash(prev_hash: str, tenant: UUID, run: UUID, seq: int, kind: str, actor: str, at: datetime, data: str) -> str:
    """sha256 over the previous hash and the canonical form of the event (semantics.md, Chain)."""
    body = (
        f'{{"actor":{canonical(actor)},"at":"{stamp(at)}","data":{data},"kind":"{kind}",'
        f'"run":"{run}","seq":{seq},"tenant":"{tenant}"}}'
    )
    return sha256((prev_hash + body).encode()).hexdigest()


def first_bad(tenant: UUID, run: UUID, links: Iterable[Link], head: str, length: int) -> int | None:
    """The seq of the first event that does not follow, or None. `head`, `length`: what the run says of its chain."""
    prev, expected = "", 1
    for link in links:
        computed = link_hash(prev, tenant, run, link.seq, link.kind, link.actor, link.at, link.data)
        if link.seq != expected or link.prev_hash != prev or link.hash != computed:
            return min(link.seq, expected)
        prev, expected = link.hash, expected + 1
    return None if prev == head and expected == length + 1 else expected
