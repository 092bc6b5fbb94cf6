"""The bounded run: its statuses, its reasons, and the one function that derives where it stands."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from runs.domain.errors import IllegalTransition
from runs.domain.step import StepStatus


class RunStatus(StrEnum):
    """The six phases of the source; the terminal one in its four forms."""

    PLANNING = "planning"
    VALIDATING = "validating"
    AWAITING_APPROVAL = "awaiting_approval"
    EXECUTING = "executing"
    OBSERVING = "observing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXHAUSTED = "exhausted"


class RunEvent(StrEnum):
    """What may happen to a run as a whole."""

    PLANNED = "planning"
    VALIDATED = "validating"
    AWAITED = "awaiting_approval"
    EXECUTED = "executing"
    OBSERVED = "observing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXHAUSTED = "exhausted"


class TerminalReason(StrEnum):
    """Why a run ended; shown to users and operators."""

    COMPLETED = "completed"
    CANCELLED_BY_USER = "cancelled_by_user"
    PLANNER_FAILED = "planner_failed"
    PLANNER_INVALID = "planner_invalid"
    TOOL_FAILED = "tool_failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    STEP_BUDGET = "step_budget"
    TOOL_CALL_BUDGET = "tool_call_budget"
    TIME_BUDGET = "time_budget"
    MONEY_BUDGET = "money_budget"
    RECORD_BUDGET = "record_budget"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - the name of a budget
    RESULT_BUDGET = "result_budget"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_REJECTED = "approval_rejected"
    INTERNAL_ERROR = "internal_error"


R, E = RunStatus, RunEvent

_OPEN = frozenset({R.PLANNING, R.VALIDATING, R.AWAITING_APPROVAL, R.EXECUTING, R.OBSERVING})

TRANSITIONS: Mapping[RunEvent, tuple[frozenset[RunStatus], RunStatus]] = MappingProxyType(
    {
        E.PLANNED: (_OPEN - {R.PLANNING}, R.PLANNING),
        E.VALIDATED: (_OPEN - {R.VALIDATING}, R.VALIDATING),
        E.AWAITED: (_OPEN - {R.AWAITING_APPROVAL}, R.AWAITING_APPROVAL),
        E.EXECUTED: (_OPEN - {R.EXECUTING}, R.EXECUTING),
        E.OBSERVED: (_OPEN - {R.OBSERVING}, R.OBSERVING),
        E.SUCCEEDED: (_OPEN, R.SUCCEEDED),
        E.FAILED: (_OPEN, R.FAILED),
        E.CANCELLED: (_OPEN, R.CANCELLED),
        E.EXHAUSTED: (_OPEN, R.EXHAUSTED),
    }
)

FINAL: frozenset[RunStatus] = frozenset(RunStatus) - frozenset().union(*(f for f, _ in TRANSITIONS.values()))

OPEN: frozenset[RunStatus] = frozenset(RunStatus) - FINAL


def after(status: RunStatus, event: RunEvent) -> RunStatus:
    """The status that `event` leads to. Raises IllegalTransition."""
    sources, target = TRANSITIONS[event]
    if status not in sources:
        raise IllegalTransition(f"A run that is {status} cannot become {event}.")
    return target


def hops() -> frozenset[tuple[str, str]]:
    """Every (from, to) pair of the table, for the database trigger and the diagram."""
    return frozenset((source.value, target.value) for sources, target in TRANSITIONS.values() for source in sources)


def status_of(steps: Iterable[StepStatus], *, probing: bool = False) -> RunStatus:
    """Where an open run stands, from its steps alone. `probing`: an answer's conditions are being read."""
    present = frozenset(steps)
    if present & {StepStatus.CLEARED, StepStatus.RUNNING}:
        return R.EXECUTING
    if probing or present & {StepStatus.STALE, StepStatus.PROPOSED}:
        return R.VALIDATING
    if StepStatus.UNKNOWN in present:
        return R.OBSERVING
    return R.AWAITING_APPROVAL if StepStatus.HELD in present else R.PLANNING


def event_of(reason: TerminalReason) -> RunEvent:
    """How a run with this reason ends."""
    if reason is TerminalReason.COMPLETED:
        return E.SUCCEEDED
    if reason is TerminalReason.CANCELLED_BY_USER:
        return E.CANCELLED
    return E.EXHAUSTED if reason.value.endswith("_budget") else E.FAILED
