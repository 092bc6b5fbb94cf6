"""Kombu's pgmq transport for a role that owns nothing: queues and triggers were made by the owner."""

from typing import Any

from kombu.transport import pgmq


class Channel(pgmq.Channel):
    """Declares nothing; listens only."""

    def _new_queue(self, queue: str, **_: Any) -> None:
        """`manage.py prepare` made it."""

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        # The transport would make its trigger anew for each consumer, which locks the table and needs its owner.
        connection: Any = self.connection
        connection._register_notify_queue(queue_name or self._queue_name(queue))  # noqa: SLF001 - its own half


class Transport(pgmq.Transport):
    """pgmq on the product's own database."""

    Channel = Channel
