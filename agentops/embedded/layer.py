"""The channel layer in Postgres: who listens is as in channels_postgres, sending is one statement from any thread."""

from typing import Any

from asgiref.sync import sync_to_async
from channels_postgres.core import PostgresChannelLayer
from django.db import connection

_SEND = """
INSERT INTO channels_postgres_message (channel, message, expire)
SELECT DISTINCT channel, %s::bytea, now() + make_interval(secs => %s)
FROM channels_postgres_groupchannel WHERE group_key = %s
"""


class Layer(PostgresChannelLayer):  # type: ignore[misc]  # channels_postgres is not typed
    """A worker thread has no event loop that lives on, so its sends use Django's own connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.django_db.using = "default"

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """One statement for all members; none of them costs a commit when nobody listens."""
        values = (self.serialize(message), self.expiry, self._group_key(group))
        await sync_to_async(_execute)(values)


def _execute(values: tuple[bytes, int, str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SEND, values)
