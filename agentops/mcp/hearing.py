"""Hears which rows change, once a tenant and process, for everybody here who waits: no database connection is held."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from typing import Any
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from psycopg import Error as DatabaseFault

LINGER_SECONDS = 30.0
RETRY_SECONDS = 1.0
READY_WITHIN = 2.0
_log = structlog.get_logger()
type Hear = Callable[[str, str], None]
"""Called with the kind and the id of a row that changed; with two empty words when something may have been missed."""


class Ears:
    """One ear for each tenant that anybody waits in; it stays a while, since calls come one after the other."""

    def __init__(self) -> None:
        self._ears: dict[UUID, _Ear] = {}

    @asynccontextmanager
    async def listening(self, tenant_id: UUID, hear: Hear) -> AsyncIterator[None]:
        """Call `hear` from now on, on this loop, for each row of the tenant that changes."""
        ear = self._ears.get(tenant_id)
        if ear is None or ear.task.done():
            ear = self._ears[tenant_id] = _Ear(tenant_id)
        token = object()
        ear.hearers[token] = hear
        try:
            with suppress(TimeoutError):
                # A layer that is away only makes waiters look for themselves, from time to time.
                await asyncio.wait_for(ear.ready.wait(), READY_WITHIN)
            yield
        finally:
            del ear.hearers[token]
            if not ear.hearers:
                asyncio.get_running_loop().call_later(LINGER_SECONDS, self._drop, tenant_id, ear)

    async def close(self) -> None:
        """Hear nothing any more."""
        tasks = [ear.task for ear in self._ears.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _drop(self, tenant_id: UUID, ear: "_Ear") -> None:
        if not ear.hearers and self._ears.get(tenant_id) is ear:
            del self._ears[tenant_id]
            ear.task.cancel()


class _Ear:
    """A member of the tenant's group in the channel layer."""

    def __init__(self, tenant_id: UUID) -> None:
        self.group = f"tenant.{tenant_id}"
        self.hearers: dict[object, Hear] = {}
        self.ready = asyncio.Event()
        # In no request's context: it lives longer than whoever waits first.
        self.task = asyncio.create_task(self._stay(), context=Context())

    async def _stay(self) -> None:
        while True:
            try:
                await self._listen(get_channel_layer())
            except _faults() as error:
                _log.warning("hearing_failed", error=type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self, layer: Any) -> None:
        channel = await layer.new_channel("mcp")
        try:
            await layer.group_add(self.group, channel)
            self.ready.set()
            self._tell("", "")
            while True:
                fact = await layer.receive(channel)
                # The layer's own word that it was away names no row.
                self._tell(fact.get("kind", ""), fact.get("id", ""))
        finally:
            with suppress(*_faults()):
                await asyncio.shield(layer.group_discard(self.group, channel))

    def _tell(self, kind: str, row_id: str) -> None:
        for hear in [*self.hearers.values()]:
            hear(kind, row_id)


def _faults() -> tuple[type[Exception], ...]:
    """What a layer that is away raises. Redis's client, slow to load, has its own where it is loaded."""
    redis = sys.modules.get("redis")
    return (OSError, DatabaseFault, redis.RedisError) if redis else (OSError, DatabaseFault)


ears = Ears()
