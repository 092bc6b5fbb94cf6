"""The planners, one contract: from an open book to an Answer."""

from runs.book import Book
from runs.domain.planning import Answer, GiveUp
from runs.domain.run import TerminalReason
from runs.planners import external, scripted


def plan(book: Book) -> Answer:
    """What the run's planner says next. Pure: it reads the book and does no I/O."""
    match book.agent.planner:
        case "playbook":
            return scripted.plan(book)
        case "external":
            return external.plan(book)
        case other:
            return GiveUp(TerminalReason.PLANNER_FAILED, f"There is no planner {other!r}.")
