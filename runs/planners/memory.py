"""What the model planner remembers between two looks at a run, until its next turn: what went wrong, and how often."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from runs.book import Book
from tools.domain.canonical import canonical, parse


@dataclass(frozen=True)
class Memory:
    """`lost`: workers that died while asking. `faults`: of the provider. `unusable`: answers that were sent back.

    `remark`: what the model is told about its last answer. `said`: what the last fault was. `stop`: no further try.
    """

    lost: int = 0
    faults: int = 0
    unusable: int = 0
    remark: str = ""
    said: str = ""
    stop: bool = False
    retry_at: str = ""

    @property
    def retry_moment(self) -> datetime | None:
        return datetime.fromisoformat(self.retry_at) if self.retry_at else None


def recall(book: Book) -> Memory:
    """What is remembered."""
    kept: Any = parse(book.run.planner_state)
    return Memory(**kept)


def remember(book: Book, memory: Memory) -> None:
    """Keep it with the run."""
    book.run.planner_state = canonical(asdict(memory))
