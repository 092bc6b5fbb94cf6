"""Ends a run that the engine itself cannot take further, so that it neither stays silent nor stops the others."""

import logging

from agentops.logs import naming
from runs import ledger
from runs.book import Book
from runs.domain.run import TerminalReason
from runs.domain.step import StepStatus
from runs.ledger import RunBroke
from runs.operations.advancing import external_due
from runs.operations.ending import end_when_quiet
from runs.operations.healing import BROKE
from runs.operations.settling import Settled, lose, settle

_log = logging.getLogger(__name__)


def give_up(broke: RunBroke, settled: Settled | None = None) -> None:
    """End the run as `internal_error`; what became of a call that was just made is recorded all the same.

    The run is put off first: should even this fail, the other runs of its queue go on.
    """
    with naming(run_id=broke.run_id):
        _log.error("run %s could not be taken further", broke.run_id, exc_info=broke.__cause__)
    ledger.put_off(broke.run_id)
    with ledger.opened_run(broke.tenant_id, broke.run_id) as book:
        if settled is not None:
            settle(book, settled)
        if not book.is_final:
            _lose_abandoned(book)
            end_when_quiet(book, TerminalReason.INTERNAL_ERROR, BROKE)
        external_due(book)


def _lose_abandoned(book: Book) -> None:
    for step in book.in_status(StepStatus.RUNNING):
        if step.lease_until is not None and step.lease_until <= book.now:
            lose(book, step, "The worker that made this call was lost.")
