"""Kombu's pgmq transport for a role that owns nothing: queues and triggers were made by the owner.

A message is a nudge, so it leaves the queue when it is read: what a worker's end loses the next sweep finds, long
before a message would be seen again.
"""

from queue import Empty
from typing import Any

import orjson
import psycopg
from kombu.transport import pgmq
from pgmq import PGMQueue
from psycopg_pool import ConnectionPool

# Statements that name their table are planned once; pgmq's functions plan at each call.
SEND = "INSERT INTO pgmq.q_{0} (vt, message) VALUES (clock_timestamp(), {1})"
_TAKE = """
DELETE FROM pgmq.q_{0} WHERE msg_id IN (
    SELECT msg_id FROM pgmq.q_{0} WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING message
"""


class _Waiter(pgmq._NotifyWaiter):  # noqa: SLF001 - nothing public says which queue was written to
    """Knows in which queues there may be something; all of them when nothing was heard for a while."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self._awake: set[str] = set()

    def register(self, queue_name: str) -> None:
        """Listen to this queue, and look into it once."""
        super().register(queue_name)
        self._awake.add(_channel(queue_name))

    def is_awake(self, queue: str) -> bool:
        """Whether there may be something in it."""
        return _channel(queue) in self._awake

    def sleep(self, queue: str) -> None:
        """It was found empty; what came since has been notified since."""
        self._awake.discard(_channel(queue))

    def wait(self, timeout: float | None) -> bool:
        """Whether something was heard."""
        heard: set[str] = set()
        with self._lock:
            if self._closed:
                return False
            self._ensure_conn()
            connection: Any = self._conn
        try:
            heard = {note.channel for note in connection.notifies(timeout=timeout, stop_after=1)}
        except (OSError, psycopg.Error):
            self._drop_conn(connection)
        self._awake |= heard or self._channels
        return bool(heard)


class Channel(pgmq.Channel):
    """Declares nothing; listens only."""

    def _new_queue(self, queue: str, **_: Any) -> None:
        """`manage.py prepare` made it."""

    def _has_queue(self, queue: str, **_: Any) -> bool:
        # The transport would list all queues before each message.
        return True

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        # The transport would make its trigger anew for each consumer, which locks the table and needs its owner.
        connection: Any = self.connection
        connection._register_notify_queue(queue_name or self._queue_name(queue))  # noqa: SLF001 - its own half

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        self._run(SEND.format(queue, "%s"), orjson.dumps(message).decode())

    def _get_bulk(self, queue: str, *_: Any, **__: Any) -> None:
        transport: Any = self.connection
        waiter: _Waiter = transport._get_notify_waiter()  # noqa: SLF001 - its own half
        if not waiter.is_awake(queue):
            raise Empty
        most: int = self._get_message_estimate()  # type: ignore[no-untyped-call]
        found = self._run(_TAKE.format(queue), most).fetchall()
        if len(found) < most:
            waiter.sleep(queue)
        if not found:
            raise Empty
        for (message,) in found:
            transport._deliver(message, queue)  # noqa: SLF001 - its own half

    def _run(self, statement: str, value: str | int) -> psycopg.Cursor[Any]:
        client: Any = self.pgmq
        with client.pool.connection() as connection:
            cursor: psycopg.Cursor[Any] = connection.execute(statement, [value])
            return cursor


class Transport(pgmq.Transport):
    """pgmq on the product's own database."""

    Channel = Channel

    def _get_notify_waiter(self) -> pgmq._NotifyWaiter:
        if self._notify_waiter is None:
            self._notify_waiter = _Waiter(self._get_pgmq_client().config.dsn)
        return self._notify_waiter

    def _create_pgmq_client(self) -> PGMQueue:
        client: Any = self.client
        options = client.transport_options
        pool = ConnectionPool(
            options["conn_string"],
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=options["pool_size"],
            timeout=options["pool_timeout"],
            open=True,
        )
        queue = PGMQueue(conn_string=options["conn_string"], init_extension=False, pool=pool)
        queue._own_pool = True  # noqa: SLF001 - it closes the pool with itself
        return queue

    def verify_connection(self, connection: Any) -> bool:
        """Asked before each message; the pool replaces a broken connection by itself."""
        return True


def _channel(queue: str) -> str:
    return f"pgmq.q_{queue}.INSERT"
