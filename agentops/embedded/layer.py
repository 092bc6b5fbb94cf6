"""The channel layer in Postgres: who listens is as in channels_postgres, sending is one statement from any thread."""

from collections.abc import Sequence
from typing import Any

from asgiref.sync import sync_to_async
from channels_postgres.core import PostgresChannelLayer
from django.db import connection

_SEND = """
INSERT INTO channels_postgres_message (channel, message, expire)
SELECT DISTINCT listening.channel, told.message, now() + make_interval(secs => %s)
FROM unnest(%s::text[], %s::bytea[]) AS told (group_key, message)
JOIN channels_postgres_groupchannel listening ON listening.group_key = told.group_key
"""


class Layer(PostgresChannelLayer):  # type: ignore[misc]  # channels_postgres is not typed
    """A worker thread has no event loop that lives on, so its sends use Django's own connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.django_db.using = "default"

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """As `send_to_groups`, for code in an event loop."""
        await sync_to_async(self.send_to_groups)([(group, message)])

    def send_to_groups(self, messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """One statement for all members of all groups; none of them costs a commit when nobody listens."""
        groups = [self._group_key(group) for group, _ in messages]
        contents = [self.serialize(message) for _, message in messages]
        with connection.cursor() as cursor:
            cursor.execute(_SEND, (self.expiry, groups, contents))
