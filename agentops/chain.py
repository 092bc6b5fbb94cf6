"""Hash chains, one a run and one a tenant: what exactly is hashed, and how a chain is checked."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from uuid import UUID


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


@dataclass(frozen=True)
class Verdict:
    """How many events were read, and the seq of the first one that does not follow, if any."""

    events: int
    first_bad: int | None


@lru_cache(maxsize=256)
def stamp(at: datetime) -> str:
    """RFC 3339 in UTC with six decimals and Z."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def link_hash(
    prev_hash: str, tenant: UUID, run: UUID | None, seq: int, kind: str, actor: str, at: datetime, data: str
) -> str:
    """sha256 over the previous hash and the canonical form of the event. `run` is null in a tenant's own chain."""
    body = (
        f'{{"actor":{json.dumps(actor, ensure_ascii=False)},"at":"{stamp(at)}","data":{data},"kind":"{kind}",'
        f'"run":{json.dumps(run and str(run))},"seq":{seq},"tenant":"{tenant}"}}'
    )
    return sha256((prev_hash + body).encode()).hexdigest()


def verify(tenant: UUID, run: UUID | None, links: Iterable[Link], head: str, length: int) -> Verdict:
    """Whether each event follows from the one before. `head`, `length`: what the owner says of the chain's end."""
    prev, expected = "", 1
    for link in links:
        computed = link_hash(prev, tenant, run, link.seq, link.kind, link.actor, link.at, link.data)
        if link.seq != expected or link.prev_hash != prev or link.hash != computed:
            return Verdict(expected, min(link.seq, expected))
        prev, expected = link.hash, expected + 1
    return Verdict(expected - 1, _bad_end(expected - 1, length, is_head=prev == head))


def _bad_end(read: int, length: int, *, is_head: bool) -> int | None:
    """A tail that is missing or was added is named by its first event, a rewritten one by its last."""
    if read != length:
        return min(read, length) + 1
    return None if is_head else max(length, 1)
