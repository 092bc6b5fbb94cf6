"""A request of a step leaves for the next one, and says what was so when it mattered."""

from collections.abc import Sequence
from typing import Any

from agentops.chain import stamp
from approvals.domain.decision import RequestStatus
from approvals.models import ApprovalRequest
from runs.book import Book
from runs.operations.checks import Check, captured
from runs.operations.readings import Reading
from tools.domain.canonical import Json, canonical, parse


def supersede(book: Book, earlier: ApprovalRequest, successor: ApprovalRequest, readings: Sequence[Reading]) -> None:
    """It never approves anything again."""
    _show_what_changed(earlier, readings)
    earlier.superseded_by = successor.id
    book.close_request(earlier, RequestStatus.SUPERSEDED)


def _show_what_changed(earlier: ApprovalRequest, readings: Sequence[Reading]) -> None:
    """The request that people decided keeps, beside what it was about, what was so when it mattered."""
    now = {r.name: r for r in readings}
    checks = []
    for name, before in captured(earlier):
        reading = now.get(name)
        value = reading.value if reading else None
        ok = None if value is None or before is None else value == before
        at = stamp(reading.read_at) if reading else stamp(earlier.opened_at)
        checks.append(Check(name, before, value, ok, "" if ok else "The value changed.", at).as_json())
    earlier.checks = canonical(checks)
    earlier.checked_at = min((r.read_at for r in readings), default=earlier.checked_at)


def changed(earlier: ApprovalRequest | None, conditions: str) -> list[Json]:
    """Old and new values of the conditions that differ from what the earlier request was about."""
    if earlier is None:
        return []
    was: dict[str, str | None] = dict(captured(earlier))
    now: Any = parse(conditions)
    return [{"name": name, "before": was.get(name), "now": value} for name, value in now if was.get(name) != value]
