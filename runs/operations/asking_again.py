"""Asks people anew about a step whose conditions have changed since they were asked."""

from collections.abc import Sequence
from typing import Any

from approvals.models import ApprovalRequest
from runs.book import Book
from runs.domain.step import StepEvent
from runs.operations import judging
from runs.operations.conditions import place_of
from runs.operations.holding import hold
from runs.operations.readings import Reading
from tools.domain.canonical import Json, parse


def ask_again(book: Book, request: ApprovalRequest) -> ApprovalRequest | None:
    """When the last check failed nothing is consumed: the step is asked again with what is so now."""
    checks: Any = parse(request.checks)
    failing = [check for check in checks if check["ok"] is False]
    step = book.step_of(request)
    tool = book.tools.get(step.tool)
    if not failing or tool is None:
        return None
    read_at = request.checked_at or book.now
    taken = [Reading(place_of(step), check["name"], check["now"], read_at) for check in checks]
    book.record(step, StepEvent.STALED, caught_by="precondition_changed", request=str(request.id))
    judged = judging.judge(book, step, tool)
    return hold(book, step, tool, judged, taken, _because(failing))


def _because(failing: Sequence[dict[str, Json]]) -> str:
    return "; ".join(f"“{check['name']}”: {check['reason']}" for check in failing)
