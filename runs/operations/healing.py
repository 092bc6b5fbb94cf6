"""What time and people did to a run while nobody looked: leases, expiries, cancellation, deadlines."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from approvals.domain.decision import RequestStatus
from runs.book import CLOCK, MACHINE, Book
from runs.domain.budget import spent
from runs.domain.planning import ENDS_RUN, Refusal
from runs.domain.run import TerminalReason
from runs.domain.step import StepEvent, StepStatus
from runs.masking import unseal_args
from runs.models import Step
from runs.operations.asking_model import lose_overdue
from runs.operations.claiming import MAX_ATTEMPTS, Claimed, late_refusal, start
from runs.operations.ending import close_request, end_when_quiet, observe_refusal, release
from runs.operations.settling import fail, lose
from tools.domain.canonical import Json, parse
from tools.domain.outcome import ToolFault

BROKE = "An internal error stopped this run; the worker's log has the details."


def heal(book: Book, owner: UUID, queue: str) -> Claimed | None:
    """Bring the run up to date with the clock; what it returns must be executed again, by this worker of `queue`."""
    restarted = _take_over(book, owner, queue)
    lose_overdue(book)
    _expire(book)
    if not book.is_final and restarted is None:
        _end_if_due(book)
    return restarted


def lapsed(book: Book) -> list[Step]:
    """The calls whose lease has ended."""
    return [s for s in book.in_status(StepStatus.RUNNING) if s.lease_until is not None and s.lease_until <= book.now]


def heal_due(book: Book) -> None:
    """What needs no worker: expiries, cancellation, the deadline."""
    _expire(book)
    if not book.is_final:
        _end_if_due(book)


def _take_over(book: Book, owner: UUID, queue: str) -> Claimed | None:
    """A lease that ended is taken over once: what may be sent again is, any other mutation is unknown."""
    for step in lapsed(book):
        tool = book.tools.get(step.tool)
        args = unseal_args(book, step)
        against = _against_repeating(book, step, args)
        if tool is not None and against is None and step.queue != queue:
            continue
        if tool is not None and against is None:
            _close_lost_attempt(book, step)
            return start(book, step, tool, args, owner, again=True)
        if step.risk == "read":
            fail(book, step, ToolFault("tool_failed", against or "The tool is gone."))
        else:
            lose(book, step, against or "The tool is gone; the call may have acted.")
    return None


def _against_repeating(book: Book, step: Step, args: Json) -> str | None:
    """Why a call whose lease ended is not made again, if it is not."""
    tool = book.tools.get(step.tool)
    if tool is None or not tool.pinned.spec.may_be_resent:
        return "The worker that made this call was lost; the call may have acted."
    if step.token >= MAX_ATTEMPTS:
        return f"The call was made {step.token} times and its answer was lost each time."
    if _why_end(book) is not None:
        return "The worker was lost and the run was being stopped."
    refusal = late_refusal(book, step, args)
    return None if refusal is None else f"It may not be made again: {refusal.message}"


def _close_lost_attempt(book: Book, step: Step) -> None:
    attempt = book.attempts.get(step.id)
    if attempt is not None:
        book.close_attempt(attempt, "lost", "The worker was lost.")


def _expire(book: Book) -> None:
    for step in book.in_status(StepStatus.HELD):
        request = book.request_of(step)
        if request is None or request.expires_at > book.now:
            continue
        close_request(book, step, RequestStatus.EXPIRED)
        step.refusal = Refusal(
            "approval_expired", "Nobody decided in time.", hint="Propose it again if needed."
        ).stored()
        book.record(step, StepEvent.EXPIRED, CLOCK, request=str(request.id))
        release(book, step)
        observe_refusal(book, step)


def _end_if_due(book: Book) -> None:
    why = _why_end(book)
    if why is not None:
        end_when_quiet(book, why.reason, why.because, actor=why.actor)


@dataclass(frozen=True)
class _Why:
    reason: TerminalReason
    because: str
    actor: str = MACHINE


def _why_end(book: Book) -> _Why | None:
    run = book.run
    if run.cancel_requested_at is not None:
        return _Why(TerminalReason.CANCELLED_BY_USER, run.cancel_reason, run.cancel_requested_by)
    over = spent(book.limits, book.used)
    if over is not None:
        return _Why(TerminalReason(over.value), "The budget was used up.")
    return _refused_for_good(book) or _out_of_time(book) or _idle(book) or _broken(book)


def _refused_for_good(book: Book) -> _Why | None:
    """A person said stop, or a condition does, while a call was in flight."""
    for step in book.steps:
        if step.refusal and f'"{ENDS_RUN}"' in step.refusal:
            said: Any = parse(step.refusal)
            return _Why(TerminalReason(said[ENDS_RUN]), said["message"], said.get("decided_by", MACHINE))
    return None


def _idle(book: Book) -> _Why | None:
    ends = book.idle_at()
    if ends is None or ends > book.now:
        return None
    return _Why(TerminalReason.COMPLETED, f"Nothing was called for {book.run.idle_seconds} seconds.", CLOCK)


def _out_of_time(book: Book) -> _Why | None:
    deadline = book.deadline()
    if deadline is None or deadline > book.now:
        return None
    if book.in_status(StepStatus.UNKNOWN):
        return _Why(TerminalReason.OUTCOME_UNKNOWN, "The run's time ended before the outcome was known.", CLOCK)
    return _Why(TerminalReason.TIME_BUDGET, f"The run had {book.limits.seconds} seconds.", CLOCK)


def _broken(book: Book) -> _Why | None:
    """Whatever else stops a run while its call is in flight can still be seen in the book afterwards."""
    return _Why(TerminalReason.INTERNAL_ERROR, BROKE) if book.work.cancel_requested else None
