"""States in Redis, where other systems read them too: compared and set in one script, outside of the database."""

from datetime import UTC, datetime
from functools import cache
from uuid import UUID

import redis
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError

from tools.domain.errors import StateMoved
from tools.workflow_stores.snapshot import Snapshot

_SAVE = """
if tonumber(redis.call('HGET', KEYS[1], 'revision') or '0') ~= tonumber(ARGV[1]) then return 0 end
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'revision', ARGV[1] + 1, 'at', string.format('%d%06d', now[1], now[2]))
return 1
"""


class StoreAway(OperationalError):
    """Redis does not answer: as when the database is away, the run waits and nothing is wrong with it."""


class RedisStore:
    """The states of one workflow's handles. Nothing expires."""

    def __init__(self, tenant_id: UUID, workflow_id: UUID) -> None:
        self._prefix = f"agentops:workflow:{tenant_id}:{workflow_id}:"

    def load(self, handle: str) -> Snapshot | None:
        """Where the handle stands. Raises StoreAway."""
        try:
            found = _client().hgetall(self._prefix + handle)
        except redis.RedisError as error:
            raise StoreAway(str(error)) from error
        if not found:
            return None
        at = datetime.fromtimestamp(int(found["at"]) / 1_000_000, UTC)
        return Snapshot(str(found["state"]), int(found["revision"]), at)

    def save(self, handle: str, state: str, expected_revision: int) -> None:
        """Move it from that revision to the next. Raises StateMoved, StoreAway."""
        try:
            saved = _client().eval(_SAVE, 1, self._prefix + handle, str(expected_revision), state)
        except redis.RedisError as error:
            raise StoreAway(str(error)) from error
        if not saved:
            raise StateMoved


@cache
def _client() -> redis.Redis:
    if not settings.AGENTOPS_REDIS_URL:
        raise ImproperlyConfigured("AGENTOPS_WORKFLOW_STORE=redis needs REDIS_URL.")
    return redis.Redis.from_url(
        settings.AGENTOPS_REDIS_URL, decode_responses=True, socket_timeout=2, socket_connect_timeout=2
    )
