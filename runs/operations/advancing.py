"""Takes a run forward by one transaction: settle, heal, plan, propose and claim, until somebody must act outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from agentops.after_commit import nudge_later
from runs import ledger
from runs.book import Book
from runs.domain.model_reply import Reply
from runs.domain.planning import Answer, Ask, Finish, GiveUp, Turn, Wait
from runs.domain.run import FINAL, RunStatus, TerminalReason
from runs.domain.step import StepStatus
from runs.models import Step
from runs.operations import asking_model, looking_up
from runs.operations.asking_model import Asked
from runs.operations.claiming import Claimed, claim, probes_due
from runs.operations.ending import end
from runs.operations.healing import heal, lapsed
from runs.operations.looking_up import Found, Lookup
from runs.operations.proposing import probes_for, propose
from runs.operations.readings import ProbeWanted, Reading, Readings
from runs.operations.settling import Settled, settle
from runs.planners import moments, plan
from tools.domain.outcome import NotSent

PROBE_LEASE = timedelta(seconds=30)
MAX_ROUNDS = 200


@dataclass(frozen=True)
class Idle:
    """Nothing for this worker to do; `soon`: the planner has more to say, in another transaction."""

    soon: bool = False


@dataclass(frozen=True)
class Probe:
    """Read these conditions, then resume."""

    tenant_id: UUID
    run_id: UUID
    wanted: tuple[ProbeWanted, ...]


@dataclass(frozen=True)
class Execute:
    """Make this call, then resume with its outcome. `book`: the run as it is left meanwhile."""

    call: Claimed
    book: Book = field(repr=False)


@dataclass(frozen=True)
class Look:
    """Make this lookup, then resume with what was found."""

    lookup: Lookup


@dataclass(frozen=True)
class Think:
    """Ask the model, then resume with its reply."""

    asked: Asked


type Next = Idle | Probe | Execute | Look | Think


def begin(queue: str, hint: UUID | None, owner: UUID) -> Next | None:
    """Take a run that is due in `queue` and advance it. None: there is no work."""
    with ledger.opened_due(queue, hint) as book:
        return None if book is None else _advance(book, owner, {}, queue)


def resume(
    tenant_id: UUID,
    run_id: UUID,
    owner: UUID,
    *,
    queue: str = "control",
    settled: Settled | None = None,
    left: Book | None = None,
    readings: Sequence[Reading] = (),
    found: Found | None = None,
    replied: tuple[Asked, Reply] | None = None,
) -> Next:
    """Advance the run with what a worker of `queue` brought back. `left`: as it had left the run for its call."""
    known: Readings = {(r.place, r.name): r for r in readings}
    if settled is not None and isinstance(settled.outcome, NotSent):
        left = None  # It is claimed again, for which its votes are read as they are now.
    with ledger.blaming(tenant_id, run_id), ledger.opened_run(tenant_id, run_id, left) as book:
        if settled is not None:
            settle(book, settled)
        if found is not None:
            looking_up.take_in(book, found)
        if replied is not None:
            asking_model.take_in(book, *replied)
        return _advance(book, owner, known, queue)


def _advance(book: Book, owner: UUID, readings: Readings, queue: str) -> Next:
    found = _next(book, owner, readings, queue)
    _schedule(book, found)
    return found


def _next(book: Book, owner: UUID, readings: Readings, queue: str) -> Next:
    if not book.is_final and (restarted := heal(book, owner, queue)) is not None:
        return Execute(restarted, book)
    if (lookup := looking_up.lookup_due(book)) is not None:
        return Look(lookup)
    for _ in range(MAX_ROUNDS):
        if RunStatus(book.run.status) in FINAL or book.run.cancel_requested_at is not None:
            return Idle()
        found = _take_or_plan(book, owner, readings, queue)
        if found is not None:
            return found
    return Idle(soon=True)


def _take_or_plan(book: Book, owner: UUID, readings: Readings, queue: str) -> Next | None:
    """A call that waits for the workers of another queue is left to them."""
    cleared = book.in_status(StepStatus.CLEARED)
    mine = [step for step in cleared if step.queue == queue]
    if mine:
        return _take(book, mine[0], readings, owner)
    return Idle() if cleared else _plan(book, readings, owner)


def _take(book: Book, step: Step, readings: Readings, owner: UUID) -> Next | None:
    wanted = probes_due(book, step, readings)
    if wanted:
        return Probe(book.run.tenant_id, book.run.id, tuple(wanted))
    call = claim(book, step, readings, owner)
    return None if call is None else Execute(call, book)


def _plan(book: Book, readings: Readings, owner: UUID) -> Next | None:
    answer: Answer = Wait() if book.open_steps() else plan(book)
    match answer:
        case Wait():
            return Idle()
        case Ask() as wanted:
            return Think(asking_model.ask(book, wanted, owner))
        case Finish(text):
            end(book, TerminalReason.COMPLETED, answer=text)
            return None
        case GiveUp(reason, message):
            end(book, reason, message)
            return None
        case Turn() as turn:
            return _propose(book, turn, readings)


def _propose(book: Book, turn: Turn, readings: Readings) -> Probe | None:
    wanted = probes_for(book, turn, readings)
    if wanted:
        book.probing = True
        return Probe(book.run.tenant_id, book.run.id, tuple(wanted))
    book.probing = False
    if turn.memory:
        book.run.planner_state = turn.memory
    propose(book, turn, readings)
    return None


def _schedule(book: Book, found: Next) -> None:
    """When somebody must look at the run next, and who is told now."""
    if book.is_final:
        book.work.due_at = book.next_lookup()
        book.work.cancel_requested = book.model_request is not None and book.model_request.outcome == "abandoned"
        return
    if found == Idle(soon=True) or (_waiting(book) and isinstance(found, Execute | Idle)):
        due_now(book)
    else:
        book.work.due_at = _due(book, found)


def _due(book: Book, found: Next) -> datetime | None:
    due = [step.lease_until for step in book.in_status(StepStatus.RUNNING)]
    due += [r.expires_at for s in book.in_status(StepStatus.HELD) if (r := book.request_of(s)) is not None]
    if isinstance(found, Probe):
        due.append(book.now + PROBE_LEASE)
    book.settle_status()
    due += [book.next_lookup(), book.deadline(), book.idle_at(), *moments(book)]
    ahead = [m for m in due if m is not None and m > book.now]
    overdue = len(ahead) < sum(m is not None for m in due)
    return min([*ahead, book.now + PROBE_LEASE] if overdue else ahead, default=None)


def _waiting(book: Book) -> list[Step]:
    """The calls that a worker can make now."""
    return [*book.in_status(StepStatus.CLEARED), *lapsed(book)]


def due_now(book: Book, *, ahead: timedelta = timedelta()) -> None:
    """Somebody must take the run up at once, and before what came due in the time `ahead`."""
    # A run stands in one queue at a time: what needs no sandbox does not wait for one.
    book.work.queue = "sandbox" if {step.queue for step in _waiting(book)} == {"sandbox"} else "control"
    book.work.due_at = book.now - ahead
    nudge_later(book.work.queue, book.run.id)


def external_due(book: Book) -> None:
    """After a door wrote: work on what is cleared, else come back when something is due."""
    _schedule(book, Idle())
