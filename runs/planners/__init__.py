"""The planners, one contract: from an open book to an Answer."""

from runs.book import Book
from runs.domain.planning import Answer, GiveUp
from runs.domain.run import TerminalReason
from runs.planners import external, model, scripted
from runs.planners.model import moments

__all__ = ["moments", "plan"]


def plan(book: Book) -> Answer:
    """What the run's planner says next. It reads what is known of the run; nobody outside is asked."""
    match book.agent.planner:
        case "playbook":
            return scripted.plan(book)
        case "model":
            return model.plan(book)
        case "external":
            return external.plan(book)
        case other:
            return GiveUp(TerminalReason.PLANNER_FAILED, f"There is no planner {other!r}.")
