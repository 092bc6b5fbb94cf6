"""A worker's segment: claim, execute, settle, until the run waits for somebody or its slice of time is over."""

import time
from contextlib import suppress
from uuid import UUID

from django.db import InterfaceError, OperationalError, close_old_connections

from agentops.after_commit import nudge
from agentops.logs import naming
from agentops.tenancy.ids import uuid7
from runs import inflight, probing, thinking
from runs.book import Book
from runs.leases import LEASE_SECONDS, Lease
from runs.ledger import RunBroke
from runs.operations import advancing
from runs.operations.advancing import Execute, Idle, Look, Next, Probe, Think
from runs.operations.claiming import Claimed
from runs.operations.giving_up import give_up
from runs.operations.settling import Settled
from tools.domain.outcome import NotSent, Outcome
from tools.executor import ToolCall, execute, sandbox_level

SLICE_SECONDS = 20.0
START_WITHIN = 3.0
"""A call that did not start this soon after its claim is handed back: its lease may be somebody else's by its end."""
GRACE = 5.0
AGAIN_SECONDS = 0.5


def work(queue: str, hint: UUID | None) -> int:
    """Take due runs of `queue` forward until none is due. Returns how many were taken."""
    owner, ends = uuid7(), time.monotonic() + SLICE_SECONDS
    taken = 0
    while _take(queue, hint, owner):
        hint = None
        taken += 1
        if time.monotonic() > ends:
            nudge(queue)
            break
    return taken


def _take(queue: str, hint: UUID | None, owner: UUID) -> bool:
    """Take one run as far as it goes. False: none is due."""
    try:
        found = advancing.begin(queue, hint, owner)
        if found is not None:
            _segment(found, owner, queue)
    except RunBroke as broke:
        give_up(broke)
        return True
    return found is not None


def _segment(found: Next, owner: UUID, queue: str) -> None:
    while not isinstance(found, Idle):
        match found:
            case Probe(tenant_id, run_id, wanted):
                found = advancing.resume(tenant_id, run_id, owner, queue=queue, readings=probing.read(wanted))
            case Look(lookup):
                looked = probing.look_up(lookup)
                found = advancing.resume(lookup.tenant_id, lookup.run_id, owner, queue=queue, found=looked)
            case Think(asked):
                reply = asked, thinking.think(asked)
                found = advancing.resume(asked.tenant_id, asked.run_id, owner, queue=queue, replied=reply)
            case Execute(call, book):
                found = _settled(Settled(call, perform(call), sandbox_level(call.tool.spec)), owner, queue, book)


def _settled(report: Settled, owner: UUID, queue: str, left: Book) -> Next:
    """A database that is away for a moment is asked again: what a call did is known to nobody else."""
    ends = time.monotonic() + LEASE_SECONDS
    try:
        return _taken_in(report, owner, queue, left)
    except (OperationalError, InterfaceError):
        while time.monotonic() < ends:
            time.sleep(AGAIN_SECONDS)
            close_old_connections()
            with suppress(OperationalError, InterfaceError):
                return _taken_in(report, owner, queue, None)
        raise


def _taken_in(report: Settled, owner: UUID, queue: str, left: Book | None) -> Next:
    call = report.call
    try:
        return advancing.resume(call.tenant_id, call.run_id, owner, queue=queue, settled=report, left=left)
    except RunBroke as broke:
        give_up(broke, report)
        return Idle()


def perform(call: Claimed) -> Outcome:
    """Make the call: no transaction is open and no database connection is held."""
    limit = call.tool.spec.timeout_ms / 1000
    lease = Lease(call.tenant_id, call.run_id, call.step_id, call.token)
    ends = time.monotonic() + limit + GRACE
    with naming(run_id=call.run_id, step_id=call.step_id), inflight.watched(lease, ends) as cancelled:
        if time.monotonic() - call.claimed_at > START_WITHIN:
            return NotSent("The claim was too old when its turn came.")
        return execute(
            ToolCall(
                tenant_id=call.tenant_id,
                run_id=call.run_id,
                step_id=call.step_id,
                tool=call.tool,
                args=call.args if isinstance(call.args, dict) else {},
                idempotency_key=call.idempotency_key,
                actor_sub=call.principal,
                scopes=call.scopes,
                deadline=time.monotonic() + limit,
                cancelled=cancelled,
                credential=call.credential,
                traceparent=call.traceparent,
            )
        )
