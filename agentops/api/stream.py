"""Follows a run's events for as long as it lives, the key is valid and the client listens."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connection

from agentops.api import renderings
from agentops.api.answers import dumped
from agentops.api.authentication import bearer
from agentops.tenancy.access import require_scope
from agentops.tenancy.errors import KeyRejected, ScopeMissing
from agentops.tenancy.scopes import RUNS_READ
from runs import queries

LOOK_EVERY: Final = 0.5
BEAT_EVERY: Final = 15.0
# A thread of a synchronous server is not given away for good: the client takes the stream up again.
SYNC_SECONDS: Final = 60.0


@dataclass
class Source:
    """A stream's place: the last event that was sent. `raw_key` is looked at again each time."""

    run_id: UUID
    after: int
    raw_key: str = field(repr=False)
    resource: str
    ended: bool = False
    beat_at: float = field(default_factory=time.monotonic)

    def take(self) -> str:
        """What is new, as text to send. The connection goes back to the pool between two looks."""
        try:
            return self._new() or self._beat()
        except (KeyRejected, ScopeMissing):
            self.ended = True
            return ""
        finally:
            connection.close()

    def _new(self) -> str:
        actor = bearer(self.raw_key, self.resource)
        require_scope(actor, RUNS_READ)
        finished = queries.is_finished(actor, self.run_id)
        rows = queries.events(actor, self.run_id, after=self.after)
        if not rows:
            self.ended = finished
            return ""
        self.after, self.beat_at = rows[-1].seq, time.monotonic()
        return "".join(f"id: {row.seq}\nevent: {row.kind}\ndata: {dumped(renderings.event(row))}\n\n" for row in rows)

    def _beat(self) -> str:
        if time.monotonic() - self.beat_at < BEAT_EVERY:
            return ""
        self.beat_at = time.monotonic()
        return ": still here\n\n"


async def followed_async(source: Source) -> AsyncIterator[str]:
    """The stream under ASGI: no thread and no connection is held while nothing happens."""
    look = sync_to_async(source.take, thread_sensitive=False)
    while not source.ended:
        if text := await look():
            yield text
        elif not source.ended:
            await asyncio.sleep(LOOK_EVERY)


def followed(source: Source) -> Iterator[str]:
    """The stream under WSGI, for a while."""
    until = time.monotonic() + SYNC_SECONDS
    while not source.ended and time.monotonic() < until:
        if text := source.take():
            yield text
        elif not source.ended:
            time.sleep(LOOK_EVERY)
