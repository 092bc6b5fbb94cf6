"""Kombu's pgmq transport for a role that owns nothing: queues and triggers were made by the owner."""

from typing import Any

import psycopg
from kombu.transport import pgmq
from pgmq import PGMQueue
from psycopg_pool import ConnectionPool, PoolTimeout


class _Queue(PGMQueue):  # type: ignore[no-untyped-call]  # its `__init_subclass__` is not typed
    """Each of its calls is one statement, which needs no BEGIN and COMMIT around it."""

    _transaction_decorator: Any = staticmethod(lambda call: call)


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


class Transport(pgmq.Transport):
    """pgmq on the product's own database."""

    Channel = Channel

    def _create_pgmq_client(self) -> PGMQueue:
        client: Any = self.client
        options = client.transport_options
        pool = ConnectionPool(
            options["conn_string"],
            kwargs={"autocommit": True},
            min_size=1,
            max_size=options["pool_size"],
            timeout=options["pool_timeout"],
            open=True,
        )
        queue = _Queue(
            conn_string=options["conn_string"], vt=options["visibility_timeout"], init_extension=False, pool=pool
        )
        queue._own_pool = True  # noqa: SLF001 - it closes the pool with itself
        return queue

    def verify_connection(self, connection: Any) -> bool:
        """Whether the database answers; asked before each message, for which the transport would list all queues."""
        client: Any = self._get_pgmq_client()
        try:
            with client.pool.connection() as asked:
                asked.execute("")
        except (PoolTimeout, psycopg.Error):
            return False
        return True
