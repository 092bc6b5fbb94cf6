"""The way of a run through its phases, told by the kinds of its events."""

from collections.abc import Iterable

from runs.domain.run import RunStatus
from runs.domain.step import StepEvent

R, E = RunStatus, StepEvent
LEADS_TO: dict[StepEvent, tuple[RunStatus, ...]] = {
    E.REFUSED: (R.VALIDATING, R.OBSERVING),
    E.HELD: (R.VALIDATING, R.AWAITING_APPROVAL),
    E.CLEARED: (R.VALIDATING, R.EXECUTING),
    E.RECALLED: (R.VALIDATING, R.OBSERVING),
    E.APPROVED: (R.EXECUTING,),
    E.REJECTED: (R.OBSERVING,),
    E.EXPIRED: (R.OBSERVING,),
    E.WITHDRAWN: (),
    E.ANSWERED: (R.OBSERVING,),
    E.STALED: (R.VALIDATING,),
    E.STARTED: (R.EXECUTING,),
    E.RESTARTED: (),
    E.HANDED_BACK: (),
    E.SUCCEEDED: (R.OBSERVING,),
    E.FAILED: (R.OBSERVING,),
    E.LOST: (R.OBSERVING,),
    E.RECONCILED_SUCCEEDED: (),
    E.RECONCILED_FAILED: (),
}
"""Each event of a step and the phases that it shows, in order."""


def phases(present: str, kinds: Iterable[str]) -> list[str]:
    """The phases in order, from planning to where the run stands."""
    way = [R.PLANNING.value]
    for kind in kinds:
        owner, _, name = kind.partition(".")
        if owner == "step" and name in set(StepEvent):
            for phase in LEADS_TO[StepEvent(name)]:
                _go(way, phase.value)
    if present == R.SUCCEEDED.value and way[-1] == R.OBSERVING.value:
        _go(way, R.PLANNING.value)
    _go(way, present)
    return way


def _go(way: list[str], phase: str) -> None:
    if way[-1] == R.OBSERVING.value and phase in (R.VALIDATING.value, R.EXECUTING.value):
        way.append(R.PLANNING.value)
    if way[-1] != phase:
        way.append(phase)
