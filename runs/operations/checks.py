"""The conditions of a request as people see them: what they were when it was asked, and what they are."""

from dataclasses import dataclass
from typing import Any

from agentops.chain import stamp
from approvals.models import ApprovalRequest
from runs.operations.readings import Reading
from tools.domain.canonical import Json, parse
from tools.domain.preconditions import evaluate
from tools.domain.spec import Precondition


@dataclass(frozen=True)
class Check:
    """One condition on the page. `before`, `now`: canonical text, None when unreadable; `ok` None: unknown."""

    name: str
    before: str | None
    now: str | None
    ok: bool | None
    reason: str
    checked_at: str

    def as_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "before": self.before,
            "now": self.now,
            "ok": self.ok,
            "reason": self.reason,
            "checked_at": self.checked_at,
        }


def captured(request: ApprovalRequest) -> list[tuple[str, str | None]]:
    """The conditions of a request with what they were when it was asked, as canonical text."""
    snapshot: Any = parse(request.snapshot)
    return [(str(name), None if before is None else str(before)) for name, before in snapshot["conditions"]]


def as_proposed(reading: Reading) -> Check:
    """As it was read for the request."""
    known = reading.value is not None
    return Check(
        name=reading.name,
        before=reading.value,
        now=reading.value,
        ok=True if known else None,
        reason="" if known else f"It could not be read when proposed: {reading.fault}",
        checked_at=stamp(reading.read_at),
    )


def compared(condition: Precondition, before: str | None, reading: Reading, args: Json) -> Check:
    """What was read now beside what it was."""
    if reading.value is None:
        return Check(reading.name, before, None, None, reading.fault, stamp(reading.read_at))
    if before is None:
        return Check(reading.name, None, reading.value, None, "It was not known when proposed.", stamp(reading.read_at))
    verdict = evaluate(condition, parse(before), parse(reading.value), args)
    return Check(reading.name, before, reading.value, verdict.ok, verdict.reason, stamp(reading.read_at))
