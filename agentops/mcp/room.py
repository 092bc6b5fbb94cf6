"""How many may wait here at once, in all and for one grant, so that nobody takes all the room of a process."""

from collections.abc import Iterator
from contextlib import contextmanager


class Room:
    """Places for `most`, and no more than `of_one` of them for one grant."""

    def __init__(self, most: int, *, of_one: int) -> None:
        self._most, self._of_one = most, of_one
        self._taken: list[str] = []

    @contextmanager
    def place(self, grant: str) -> Iterator[bool]:
        """A place for as long as the block takes; false where there is none."""
        is_free = len(self._taken) < self._most and self._taken.count(grant) < self._of_one
        if not is_free:
            yield False
            return
        self._taken.append(grant)
        try:
            yield True
        finally:
            self._taken.remove(grant)
