"""Ends a run or a step for good, releasing what it held."""

from approvals.domain.decision import RequestStatus
from runs.book import MACHINE, Book
from runs.domain.planning import Refusal
from runs.domain.run import TerminalReason, event_of
from runs.domain.step import StepEvent, StepStatus
from runs.models import Observation, Step
from runs.operations.asking_model import abandon
from runs.rows import new_row


def end(
    book: Book, reason: TerminalReason, because: str = "", *, actor: str = MACHINE, answer: str | None = None
) -> None:
    """End the run. Held and cleared steps are withdrawn; an unknown one stays for reconciliation."""
    withdraw_open(book, actor)
    abandon(book)
    book.stop_waiting()
    book.run.terminal_reason = reason.value
    book.run.ended_because = because
    book.run.answer = answer
    book.run.finished_at = book.now
    book.work.due_at = book.next_lookup()
    book.record_run(event_of(reason), actor, reason=reason.value, because=because)


def end_when_quiet(book: Book, reason: TerminalReason, because: str, *, actor: str = MACHINE) -> None:
    """End the run as the refusal of one of its steps says: now, or once the calls in flight are known."""
    if book.in_status(StepStatus.RUNNING):
        withdraw_open(book, actor)
        book.work.cancel_requested = True
    else:
        end(book, reason, because, actor=actor)


def withdraw_open(book: Book, actor: str) -> None:
    """Take back every step that has not started."""
    for step in book.in_status(StepStatus.HELD, StepStatus.CLEARED, StepStatus.STALE):
        close_request(book, step, RequestStatus.WITHDRAWN)
        book.record(step, StepEvent.WITHDRAWN, actor)
        release(book, step)


def close_request(book: Book, step: Step, status: RequestStatus) -> None:
    """Close the step's request, if people still see one."""
    request = book.request_of(step)
    if request is not None:
        book.close_request(request, status)


def release(book: Book, step: Step, *, started: bool = False) -> None:
    """Give back what the step had reserved; the call of a started one stays counted."""
    calls = 0 if started else -1
    book.charge(reserve={"tool_calls": calls, "money": -step.charge_money, "records": -step.charge_records})


def refuse(book: Book, step: Step, refusal: Refusal) -> None:
    """Refuse a proposed or stale step; the refusal is what the planner observes."""
    step.refusal = refusal.stored()
    book.record(step, StepEvent.REFUSED, code=refusal.code, message=refusal.message)
    observe_refusal(book, step)


def observe_refusal(book: Book, step: Step) -> None:
    """The planner reads the refusal as its observation."""
    keep_observation(book, step, "trusted", step.refusal or "{}")


def keep_observation(book: Book, step: Step, trust: str, content: str, whole: str | None = None) -> Observation:
    """What the planner reads of the step; `whole`: what it was cut from."""
    whole = content if whole is None else whole
    row = new_row(
        Observation,
        step_id=step.id,
        tenant_id=step.tenant_id,
        trust=trust,
        content=content,
        whole=whole,
        # With the words that say so, a cut text may be as long as the whole.
        truncated=content != whole,
        bytes=len(whole.encode()),
        created_at=book.now,
    )
    book.observations[step.id] = row
    book.add(row)
    return row
