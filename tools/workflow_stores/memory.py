"""States in this process's memory, for tests and for trying things: other processes see none of them."""

import threading
from uuid import UUID

from django.utils import timezone

from tools.domain.errors import StateMoved
from tools.workflow_stores.snapshot import Snapshot

_guard = threading.Lock()
_states: dict[tuple[UUID, UUID, str], Snapshot] = {}


class MemoryStore:
    """The states of one workflow's handles, gone with the process."""

    def __init__(self, tenant_id: UUID, workflow_id: UUID) -> None:
        self._place = (tenant_id, workflow_id)

    def load(self, handle: str) -> Snapshot | None:
        """Where the handle stands."""
        return _states.get((*self._place, handle))

    def save(self, handle: str, state: str, expected_revision: int) -> None:
        """Move it from that revision to the next. Raises StateMoved."""
        with _guard:
            known = self.load(handle)
            if (known.revision if known else 0) != expected_revision:
                raise StateMoved
            _states[(*self._place, handle)] = Snapshot(state, expected_revision + 1, timezone.now())
