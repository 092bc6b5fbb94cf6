"""The life of one proposal: the only table of step transitions and its only reader."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from runs.domain.errors import IllegalTransition


class StepStatus(StrEnum):
    """Where a step stands; the spelling is the public contract."""

    PROPOSED = "proposed"
    REFUSED = "refused"
    HELD = "held"
    CLEARED = "cleared"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ANSWERED = "answered"
    STALE = "stale"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"


class StepEvent(StrEnum):
    """What may happen to a step."""

    REFUSED = "refused"
    HELD = "held"
    CLEARED = "cleared"
    RECALLED = "recalled"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ANSWERED = "answered"
    STALED = "staled"
    STARTED = "started"
    RESTARTED = "restarted"
    HANDED_BACK = "handed_back"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    LOST = "lost"
    RECONCILED_SUCCEEDED = "reconciled_succeeded"
    RECONCILED_FAILED = "reconciled_failed"


S, E = StepStatus, StepEvent

TRANSITIONS: Mapping[StepEvent, tuple[frozenset[StepStatus], StepStatus]] = MappingProxyType(
    {
        E.REFUSED: (frozenset({S.PROPOSED, S.STALE}), S.REFUSED),
        E.HELD: (frozenset({S.PROPOSED, S.STALE}), S.HELD),
        E.CLEARED: (frozenset({S.PROPOSED}), S.CLEARED),
        E.RECALLED: (frozenset({S.PROPOSED}), S.SUCCEEDED),
        E.APPROVED: (frozenset({S.HELD}), S.CLEARED),
        E.REJECTED: (frozenset({S.HELD}), S.REJECTED),
        E.EXPIRED: (frozenset({S.HELD}), S.EXPIRED),
        E.WITHDRAWN: (frozenset({S.HELD, S.CLEARED, S.STALE}), S.WITHDRAWN),
        E.ANSWERED: (frozenset({S.HELD}), S.ANSWERED),
        E.STALED: (frozenset({S.HELD, S.CLEARED}), S.STALE),
        E.STARTED: (frozenset({S.CLEARED}), S.RUNNING),
        E.RESTARTED: (frozenset({S.RUNNING}), S.RUNNING),
        E.HANDED_BACK: (frozenset({S.RUNNING}), S.CLEARED),
        E.SUCCEEDED: (frozenset({S.RUNNING}), S.SUCCEEDED),
        E.FAILED: (frozenset({S.RUNNING}), S.FAILED),
        E.LOST: (frozenset({S.RUNNING}), S.UNKNOWN),
        E.RECONCILED_SUCCEEDED: (frozenset({S.UNKNOWN}), S.SUCCEEDED),
        E.RECONCILED_FAILED: (frozenset({S.UNKNOWN}), S.FAILED),
    }
)

FINAL: frozenset[StepStatus] = frozenset(StepStatus) - frozenset().union(*(f for f, _ in TRANSITIONS.values()))
"""Those that no row of the table leaves."""

OPEN: frozenset[StepStatus] = frozenset(StepStatus) - FINAL

SETTLED_MUTATION: frozenset[StepStatus] = frozenset({S.SUCCEEDED, S.UNKNOWN})
"""A mutation that ended so may have changed the world."""


def after(status: StepStatus, event: StepEvent) -> StepStatus:
    """The status that `event` leads to. Raises IllegalTransition."""
    sources, target = TRANSITIONS[event]
    if status not in sources:
        raise IllegalTransition(f"A step that is {status} cannot be {event}.")
    return target


@cache
def hops() -> frozenset[tuple[str, str]]:
    """Every (from, to) pair of the table, for the database trigger and the diagram."""
    return frozenset((source.value, target.value) for sources, target in TRANSITIONS.values() for source in sources)
