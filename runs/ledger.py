"""The only writer of runs: opens one under its lock and writes all that changed in one statement."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Model
from django.db.models.functions import Now

from agentops.after_commit import export_later, tell_later
from agentops.logs import naming
from agentops.telemetry.traces import traces
from agentops.tenancy.transaction import entered, show_rows_of
from approvals.domain.decision import RequestStatus
from approvals.models import ApprovalRequest
from runs import tracing
from runs.book import Book, rows_of
from runs.domain.step import hops
from runs.loading import Locked, load, lock_asking, lock_run, pick_due
from runs.models import Step, WorkItem
from runs.rows import Part, change, enqueue, insertion, setting, values_of


@contextmanager
def opened_run(tenant_id: UUID, run_id: UUID, left: Book | None = None) -> Iterator[Book]:
    """One durable transaction over one locked run; what the body changed is written at its end.

    `left`: the book that this worker wrote before its call, so that it need not be read again.
    """
    with naming(run_id=run_id), transaction.atomic(durable=True), _written(lock_run(tenant_id, run_id, left)) as book:
        yield book


@contextmanager
def opened_request(tenant_id: UUID, request_id: UUID) -> Iterator[Book]:
    """The same over the run that this request is about. Raises ApprovalNotFound."""
    with transaction.atomic(durable=True):
        show_rows_of(tenant_id)
        locked = lock_asking(tenant_id, request_id)
        with naming(run_id=locked.work.id), _written(locked) as book:
            yield book


@contextmanager
def opened_due(queue: str, hint: UUID | None) -> Iterator[Book | None]:
    """The same over a run that is due in `queue`; None when there is none."""
    with ExitStack() as blamed, transaction.atomic(durable=True):
        locked = pick_due(queue, hint)
        if locked is None:
            yield None
            return
        # Around the transaction, whose end is when the run is written.
        blamed.enter_context(blaming(locked.work.tenant_id, locked.work.id))
        with naming(run_id=locked.work.id), _written(locked) as book:
            yield book


class RunBroke(Exception):
    """Advancing this run raised something that no run should: the engine has a fault, or its rows have."""

    def __init__(self, tenant_id: UUID, run_id: UUID) -> None:
        self.tenant_id, self.run_id = tenant_id, run_id
        super().__init__(str(run_id))


@contextmanager
def blaming(tenant_id: UUID, run_id: UUID) -> Iterator[None]:
    """Raises RunBroke for whatever goes wrong. A database that is gone is no fault of the run."""
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        raise RunBroke(tenant_id, run_id) from error


def put_off(run_id: UUID) -> None:
    """Nobody takes the run up for some minutes."""
    WorkItem.objects.filter(id=run_id).update(due_at=Now() + timedelta(minutes=10))


def write(book: Book) -> None:
    """Write new and changed rows, events and the chain's head, and tell the open pages."""
    book.settle_status()
    if traces.are_on and (spans := tracing.ended(book)):
        export_later(spans)
    for statement in _beforehand(book):
        enqueue([statement])
    changes = [c for row in rows_of(book) if (c := _change(book, row)) is not None]
    if parts := [*_insertions([*book.added, *book.events]), *changes]:
        enqueue(parts)
    if book.workflow is not None:
        book.workflow.write()
    _tell(book)


def remember(book: Book, rows: Iterable[Model]) -> None:
    """Take what the rows hold now as what the database holds."""
    for row in rows:
        book.loaded[type(row), row.pk] = values_of(row)


@contextmanager
def _written(locked: Locked) -> Iterator[Book]:
    with entered(locked.work.tenant_id):
        book = load(locked)
        remember(book, rows_of(book))
        yield book
        write(book)


def _beforehand(book: Book) -> Iterator[Part]:
    """A step that moved twice moves through the middle, so that the trigger sees each hop; a superseded
    request, and a request to a model that has ended, leave before their successors, which unique indexes would
    refuse."""
    before = {pk: values["status"] for (model, pk), values in book.loaded.items() if model is Step}
    legal = hops()
    moved = [s for s in book.steps if s.id in before and before[s.id] != s.status]
    for step in moved:
        path = [status for step_id, status in book.hops if step_id == step.id]
        for status in path[1:] if (before[step.id], step.status) not in legal else []:
            yield setting(Step, step.id, {"status": status})
    for row in _leaving(book):
        if (statement := _change(book, row)) is not None:
            yield statement
            remember(book, [row])


def _leaving(book: Book) -> Iterator[Model]:
    yield from (r for r in book.requests.values() if r.status == RequestStatus.SUPERSEDED.value)
    if book.ended_model_request is not None:
        yield book.ended_model_request


def _insertions(rows: Sequence[Model]) -> list[Part]:
    tables: dict[type[Model], list[Model]] = {}
    for row in rows:
        tables.setdefault(type(row), []).append(row)
    return [insertion(model, members) for model, members in tables.items()]


def _change(book: Book, row: Model) -> Part | None:
    before = book.loaded.get((type(row), row.pk))
    return None if before is None else change(row, before)


def _tell(book: Book) -> None:
    if book.events:
        tell_later(book.run.tenant_id, "run", book.run.id)
    if book.workflow is not None and book.workflow.has_moved:
        tell_later(book.run.tenant_id, "workflow", book.workflow.id)
    fresh = {row.id for row in book.added if isinstance(row, ApprovalRequest)}
    for request_id in fresh | book.changed_requests:
        tell_later(book.run.tenant_id, "approval", request_id)
