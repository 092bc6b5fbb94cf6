"""One call as the engine hands it over, and the signal that stops it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from tools.domain.spec import ToolSpec


class CancelSignal(threading.Event):
    """An event that also calls back, once, in the thread that sets it."""

    def __init__(self) -> None:
        super().__init__()
        self._guard = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []

    def set(self) -> None:
        """Raise the signal and call back everybody who waits for it."""
        with self._guard:
            super().set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def call_back(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the signal is raised; at once when it is already."""
        with self._guard:
            if not self.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def forget(self, callback: Callable[[], object]) -> None:
        """Do not call `callback` any more."""
        with self._guard:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


@dataclass(frozen=True, slots=True)
class PinnedTool:
    """A version as it is pinned by a step, with the state of its tool now.

    `current` is false once a newer version has replaced this one. `gated`: it can be called in states of a workflow
    alone.
    """

    version_id: UUID
    tool_id: UUID
    name: str
    number: int
    spec: ToolSpec
    enabled: bool
    quarantined: bool
    schema_hash: str
    current: bool = True
    gated: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Everything that one call needs. `args` are exact and hold their secrets; `deadline` is `time.monotonic()`."""

    tenant_id: UUID
    run_id: UUID
    step_id: UUID
    tool: PinnedTool
    args: dict[str, Any] = field(repr=False)
    idempotency_key: str
    actor_sub: str
    scopes: frozenset[str]
    deadline: float
    cancelled: CancelSignal
    credential: SecretStr | None = None
    traceparent: str = ""
