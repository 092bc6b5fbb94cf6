"""The run that a standing grant calls in: found on every worker by the grant's name, begun on its first call."""

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import GrantRests
from runs.domain.run import FINAL, RunStatus, TerminalReason
from runs.models import Run, StartRecord
from runs.operations.starting import start_run

ROUTE = "/mcp"
TASK = "Calls over MCP"
_BEGIN_ANEW = {TerminalReason.COMPLETED.value, TerminalReason.TIME_BUDGET.value}


def open_run(actor: Actor, grant: str, agent: str) -> Run | None:
    """The run that this grant calls in now, if it has one."""
    with tenant_transaction(actor.tenant_id):
        run = _newest(actor, grant, agent)[1]
    return run if run is not None and RunStatus(run.status) not in FINAL else None


def run_of_grant(actor: Actor, grant: str, agent: str, *, idle_seconds: int, traceparent: str = "") -> UUID:
    """The grant's open run, or a new one. Raises GrantRests, UnknownAgent, ScopeMissing.

    A run that a person stopped, that failed or that used up its budget keeps its grant from the next one for
    `idle_seconds`: a budget that starts again at once would be none. `traceparent`: of the call that begins it.
    """
    with tenant_transaction(actor.tenant_id):
        number, run = _newest(actor, grant, agent)
    if run is not None and RunStatus(run.status) not in FINAL:
        return run.id
    _check_rested(run, idle_seconds)
    # Two first calls at once name the same start, so both get the same run.
    key = f"{grant}:{agent}:{number + 1}"
    started = start_run(
        actor, agent=agent, task=TASK, key=key, route=ROUTE, idle_seconds=idle_seconds, traceparent=traceparent
    )
    return started.run_id


def _newest(actor: Actor, grant: str, agent: str) -> tuple[int, Run | None]:
    begun = f"{grant}:{agent}:"
    records = StartRecord.objects.filter(
        tenant_id=actor.tenant_id, principal=actor.principal, route=ROUTE, key__startswith=begun
    )
    newest = records.order_by("-created_at", "-id").first()
    if newest is None:
        return 0, None
    run = Run.objects.filter(tenant_id=actor.tenant_id, id=newest.run_id).first()
    return int(newest.key.removeprefix(begun)), run


def _check_rested(run: Run | None, idle_seconds: int) -> None:
    if run is None or run.finished_at is None or run.terminal_reason in _BEGIN_ANEW:
        return
    rests_until = run.finished_at + timedelta(seconds=idle_seconds)
    if rests_until > timezone.now():
        reason = str(run.terminal_reason)
        raise GrantRests(
            f"The last run ended: {reason}.", run=str(run.id), reason=reason, until=rests_until.isoformat()
        )
