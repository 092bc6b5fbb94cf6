"""Stops a run: at once when nothing is in flight, else as soon as the call's true outcome is known."""

from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE
from runs import ledger
from runs.domain.errors import RunFinished
from runs.domain.run import TerminalReason
from runs.operations.ending import end_when_quiet


def cancel(actor: Actor, run_id: UUID, *, reason: str = "") -> None:
    """Cancel the run. Asking twice changes nothing. Raises RunNotFound and RunFinished."""
    require_scope(actor, RUNS_WRITE)
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        run = book.run
        if book.is_final:
            raise RunFinished(status=run.status, terminal_reason=run.terminal_reason)
        if run.cancel_requested_at is not None:
            return
        run.cancel_requested_at, run.cancel_requested_by, run.cancel_reason = book.now, actor.label, reason
        book.note("cancel_requested", actor.label, reason=reason)
        end_when_quiet(book, TerminalReason.CANCELLED_BY_USER, reason, actor=actor.label)
