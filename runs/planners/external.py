"""The planner that is somebody else: it waits for proposals at a door."""

from runs.book import Book
from runs.domain.planning import Answer, Wait


def plan(_: Book) -> Answer:
    """Nothing, until the outside agent proposes."""
    return Wait()
