"""Broken engines, planted into a worker of the tests alone: the harness is trusted because it catches each."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection

from agentops.tenancy.transaction import tenant_transaction
from runs import ledger, sweeps
from runs.book import Book
from runs.domain.step import StepStatus
from runs.models import Event
from runs.operations import advancing, claiming
from runs.operations.settling import Settled
from tests.faults.planting import plant
from tools.domain.spec import ToolSpec


def no_fencing() -> None:
    """Any worker may settle, whatever lease it holds."""

    def settling(settle: Callable[[Book, Settled], None]) -> Callable[[Book, Settled], None]:
        def settles(book: Book, report: Settled) -> None:
            step = next(s for s in book.steps if s.id == report.call.step_id)
            if step.status == StepStatus.RUNNING.value:
                report = replace(report, call=replace(report.call, token=step.token))
            settle(book, report)

        return settles

    plant(advancing, "settle", settling)


def no_sweep() -> None:
    """Nobody looks for what a lost message leaves behind."""
    plant(sweeps, "sweep", lambda _sweep: dict)


def retry_everything() -> None:
    """A call whose worker was lost is made again, whatever it does."""
    plant(ToolSpec, "may_be_resent", lambda _rule: property(lambda _spec: True))


def no_digest_check() -> None:
    """What is sent need not be what was approved."""
    plant(claiming, "_bound_digest", lambda _digest: lambda _book, _step, _tool, request: request.digest)


def event_outside() -> None:
    """Events are committed by themselves, before what they tell of."""

    def writing(write: Callable[[Book], None]) -> Callable[[Book], None]:
        def writes(book: Book) -> None:
            book.settle_status()
            events, book.events = book.events, []
            elsewhere = threading.Thread(target=_commit, args=(book.run.tenant_id, events))
            elsewhere.start()
            elsewhere.join()
            write(book)
            book.events = events

        return writes

    plant(ledger, "write", writing)


def _commit(tenant_id: UUID, events: list[Event]) -> None:
    with tenant_transaction(tenant_id):
        Event.objects.bulk_create(events)
    connection.close()


MUTANTS: dict[str, Callable[[], Any]] = {
    "no_fencing": no_fencing,
    "no_sweep": no_sweep,
    "retry_everything": retry_everything,
    "no_digest_check": no_digest_check,
    "event_outside": event_outside,
}
