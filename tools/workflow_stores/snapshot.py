"""What a state store is: the contract that every one of them keeps."""

from datetime import datetime
from typing import NamedTuple, Protocol


class Snapshot(NamedTuple):
    """Where a handle stands. `revision` counts its moves, from 1."""

    state: str
    revision: int
    updated_at: datetime


class StateStore(Protocol):
    """The states of one workflow's handles."""

    def load(self, handle: str) -> Snapshot | None:
        """Where the handle stands; None for one that was never saved."""

    def save(self, handle: str, state: str, expected_revision: int) -> None:
        """Move it from that revision to the next; 0 for a new one. Raises StateMoved when it is at another."""
