"""The only writer of runs: opens one under its lock and writes all that changed in one statement."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Field, Model
from django.db.models.functions import Now

from agentops.after_commit import tell_later
from agentops.tenancy.transaction import entered
from approvals.domain.decision import RequestStatus
from approvals.models import ApprovalRequest
from runs.book import Book, rows_of
from runs.domain.step import hops
from runs.loading import load, lock_run, pick_due
from runs.models import Step, WorkItem


@contextmanager
def opened_run(tenant_id: UUID, run_id: UUID) -> Iterator[Book]:
    """One durable transaction over one locked run; what the body changed is written at its end."""
    with transaction.atomic(durable=True):
        work = lock_run(tenant_id, run_id)
        with entered(tenant_id):
            book = _open(work)
            yield book
            write(book)


@contextmanager
def opened_due(queue: str, hint: UUID | None) -> Iterator[Book | None]:
    """The same over a run that is due in `queue`; None when there is none."""
    with transaction.atomic(durable=True):
        work = pick_due(queue, hint)
        if work is None:
            yield None
            return
        with entered(work.tenant_id), blaming(work.tenant_id, work.id):
            book = _open(work)
            yield book
            write(book)


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
    for sql, params in _beforehand(book):
        _execute(sql, params)
    inserts = _grouped([*book.added, *book.events])
    updates = [u for row in rows_of(book) if (u := _update(book, row)) is not None]
    if inserts or updates:
        _execute(*_one_statement(inserts, updates))
    _tell(book)


def remember(book: Book, rows: Iterable[Model]) -> None:
    """Take what the rows hold now as what the database holds."""
    for row in rows:
        book.loaded[type(row), row.pk] = _values(row)


def _open(work: WorkItem) -> Book:
    book = load(work)
    remember(book, rows_of(book))
    return book


def _beforehand(book: Book) -> Iterator[tuple[str, list[Any]]]:
    """A step that moved twice moves through the middle, so that the trigger sees each hop; a superseded
    request leaves before its successor, which the unique index would refuse."""
    before = {pk: values["status"] for (model, pk), values in book.loaded.items() if model is Step}
    legal = hops()
    moved = [s for s in book.steps if s.id in before and before[s.id] != s.status]
    for step in moved:
        path = [status for step_id, status in book.hops if step_id == step.id]
        for status in path[1:] if (before[step.id], step.status) not in legal else []:
            yield 'UPDATE "runs_step" SET "status" = %s WHERE "id" = %s', [status, step.id]
    for request in book.requests.values():
        if request.status == RequestStatus.SUPERSEDED.value and (ApprovalRequest, request.id) in book.loaded:
            statement = _update(book, request)
            if statement is not None:
                yield statement
                remember(book, [request])


def _grouped(rows: Sequence[Model]) -> list[tuple[str, list[Any]]]:
    tables: dict[type[Model], list[Model]] = {}
    for row in rows:
        tables.setdefault(type(row), []).append(row)
    return [_insert(model, members) for model, members in tables.items()]


def _insert(model: type[Model], rows: Sequence[Model]) -> tuple[str, list[Any]]:
    fields = model._meta.concrete_fields
    columns = ", ".join(f'"{f.column}"' for f in fields)
    line = f"({', '.join(['%s'] * len(fields))})"
    params = [_prepared(f, getattr(row, f.attname)) for row in rows for f in fields]
    return f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES {", ".join([line] * len(rows))}', params  # noqa: S608


def _update(book: Book, row: Model) -> tuple[str, list[Any]] | None:
    before = book.loaded.get((type(row), row.pk))
    if before is None:
        return None
    changed = [f for f in row._meta.concrete_fields if before[f.attname] != getattr(row, f.attname)]
    if not changed:
        return None
    columns = ", ".join(f'"{f.column}" = %s' for f in changed)
    params = [*(_prepared(f, getattr(row, f.attname)) for f in changed), row.pk]
    return f'UPDATE "{row._meta.db_table}" SET {columns} WHERE "id" = %s', params  # noqa: S608


def _one_statement(
    inserts: Sequence[tuple[str, list[Any]]], updates: Sequence[tuple[str, list[Any]]]
) -> tuple[str, list[Any]]:
    parts = [*inserts, *updates]
    ctes = ", ".join(f"c{place} AS ({sql})" for place, (sql, _) in enumerate(parts[:-1]))
    last = parts[-1][0]
    params = [p for _, own in parts for p in own]
    return (f"WITH {ctes} {last}" if ctes else last), params


def _execute(sql: str, params: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)


def _values(row: Model) -> dict[str, Any]:
    return {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields}


def storable(text: str) -> str:
    """As the database takes it: it has no U+0000 in text, so that is written as its escape."""
    return text.replace("\0", "\\u0000")


def _prepared(field: "Field[Any, Any]", value: Any) -> Any:
    return field.get_db_prep_save(storable(value) if isinstance(value, str) else value, connection)


def _tell(book: Book) -> None:
    if book.events:
        tell_later(book.run.tenant_id, "run", book.run.id)
    fresh = {row.id for row in book.added if isinstance(row, ApprovalRequest)}
    for request_id in fresh | book.asked:
        tell_later(book.run.tenant_id, "approval", request_id)
