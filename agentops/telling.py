"""Tells open pages which rows changed: one thread a process, so that no worker waits and changes leave together."""

import asyncio
import atexit
import threading
import time
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from django.db import connection

MOMENT = 0.05
AGAIN_SECONDS = 1.0
MOST_KEPT = 10_000
MISSED = {"type": "facts.missed"}
"""What a layer tells whoever listens in this process when its own connection was lost for a while."""
_log = structlog.get_logger()


class Fact(NamedTuple):
    """This row changed; never what it contains."""

    tenant_id: UUID
    kind: str
    row_id: UUID

    @property
    def addressed(self) -> tuple[str, dict[str, Any]]:
        """The group that is told, and the message."""
        return f"tenant.{self.tenant_id}", {"type": "row.changed", "kind": self.kind, "id": str(self.row_id)}


class Teller:
    """Its thread starts with the first fact, also in a process that was forked since."""

    def __init__(self) -> None:
        self._facts: dict[Fact, None] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_sending = self._gives_up = False

    def tell(self, fact: Fact) -> None:
        """Return at once; the same fact is told once a moment."""
        with self._changed:
            self._facts[fact], self._gives_up = None, False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="teller", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def finish(self, seconds: float = 2.0) -> None:
        """Return when everything was told, or could not be; what is left then is forgotten, with its connections."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_idle, seconds)
            self._facts, self._gives_up = {}, True

    @property
    def is_idle(self) -> bool:
        """Whether everything was told."""
        return not self._facts and not self._is_sending

    def _work(self) -> None:
        loop = asyncio.Runner()
        while True:
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._facts)
                facts, self._facts = [*self._facts], {}
                self._is_sending = True
            try:
                _send(facts, loop)
            except Exception as error:  # noqa: BLE001 - whatever the client raises
                _log.warning("telling_failed", error=type(error).__name__)
                self._keep(facts)
                time.sleep(AGAIN_SECONDS)
            time.sleep(MOMENT)

    def _keep(self, facts: list[Fact]) -> None:
        """For the next attempt; with more than this, pages read everything again when their layer is back."""
        with self._changed:
            if not self._gives_up:
                self._facts = dict(list({**dict.fromkeys(facts), **self._facts}.items())[-MOST_KEPT:])


def _send(facts: list[Fact], loop: asyncio.Runner) -> None:
    layer: Any = get_channel_layer()
    messages = [fact.addressed for fact in facts]
    # Asked of its type: the client of Redis looks for unknown names on a loop, and none runs here.
    if hasattr(type(layer), "send_to_groups"):
        try:
            layer.send_to_groups(messages)
        finally:
            connection.close()
    elif layer is not None:
        # One loop that lives on: a client of Redis keeps its connection with the loop that opened it.
        loop.run(_send_each(layer, messages))


async def _send_each(layer: Any, messages: list[tuple[str, dict[str, Any]]]) -> None:
    for group, message in messages:
        await layer.group_send(group, message)


teller = Teller()
atexit.register(teller.finish)
