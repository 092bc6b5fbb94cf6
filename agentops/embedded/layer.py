"""The channel layer in Postgres: who listens is as in channels_postgres, sending is one statement from any thread."""

import asyncio
import base64
import time
from collections.abc import Sequence
from typing import Any, cast

import psycopg
import structlog
from asgiref.sync import sync_to_async
from channels_postgres.core import PostgresChannelLayer
from django.db import connection

from agentops.postgres.base import DatabaseWrapper
from agentops.postgres.trip import as_text
from agentops.telling import MISSED

_SEND = """
INSERT INTO channels_postgres_message (channel, message, expire)
SELECT DISTINCT listening.channel, told.message, now() + make_interval(secs => $1)
FROM unnest($2::text[], $3::bytea[]) AS told (group_key, message)
JOIN channels_postgres_groupchannel listening ON listening.group_key = told.group_key
"""


_log = structlog.get_logger()


class Layer(PostgresChannelLayer):  # type: ignore[misc]  # channels_postgres is not typed
    """A worker thread has no event loop that lives on, so its sends use Django's own connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.django_db.using = "default"

    async def listen_to_all_channels(self) -> None:
        """The library's listener ends with its connection; this one begins again, and says that facts were missed."""
        while True:
            try:
                await super().listen_to_all_channels()
            except psycopg.OperationalError as error:
                _log.warning("listener_lost", error=type(error).__name__)
            else:
                return
            await asyncio.sleep(1)
            self._say_missed()

    def _say_missed(self) -> None:
        content = base64.b64encode(self.serialize(MISSED)).decode()
        for channel in self._channel_advisory_locks:
            self._get_or_create_queue(channel).put_nowait(f"0:{channel}:{content}:{time.time() + self.expiry}")

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """As `send_to_groups`, for code in an event loop."""
        await sync_to_async(self.send_to_groups)([(group, message)])

    def send_to_groups(self, messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """One statement for all members of all groups; none of them costs a commit when nobody listens."""
        groups = [self._group_key(group) for group, _ in messages]
        contents = [self.serialize(message) for _, message in messages]
        backend = cast("DatabaseWrapper", connection)
        backend.together([(_SEND, (as_text(self.expiry), as_text(groups), as_text(contents)))])
