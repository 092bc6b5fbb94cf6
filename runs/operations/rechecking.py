"""Reads the conditions of a pending request again, for the people who are about to decide."""

from collections.abc import Sequence
from uuid import UUID

from agentops.tenancy.actor import Actor
from approvals import gate
from approvals.domain.decision import RequestStatus, Verdict
from approvals.domain.errors import RecheckTooSoon
from approvals.models import ApprovalRequest
from runs import ledger, probing
from runs.book import Book
from runs.masking import unseal_args
from runs.models import Step
from runs.operations.checks import captured, compared
from runs.operations.conditions import place_of, wanted_probes
from runs.operations.deciding import person_of, request_in
from runs.operations.readings import ProbeWanted, Reading
from tools.domain.canonical import Json, canonical

RECHECK_SECONDS = 2


def recheck(actor: Actor, request_id: UUID) -> None:
    """Read the conditions again and keep what was read. Raises as `decide` does, and RecheckTooSoon."""
    with ledger.opened_request(actor.tenant_id, request_id) as book:
        request = request_in(book, request_id)
        gate.check_decision(request, person_of(actor), Verdict.APPROVE, request.digest, book.now, ())
        if request.checked_at and (book.now - request.checked_at).total_seconds() < RECHECK_SECONDS:
            raise RecheckTooSoon(retry_after=RECHECK_SECONDS)
        wanted = _wanted(book, book.step_of(request))
    readings = probing.read(wanted)
    with ledger.opened_request(actor.tenant_id, request_id) as book:
        request = request_in(book, request_id)
        if request.status == RequestStatus.PENDING.value:
            _keep(book, request, readings, actor.label)


def _wanted(book: Book, step: Step) -> list[ProbeWanted]:
    tool = book.tools.get(step.tool)
    return [] if tool is None else wanted_probes(book, place_of(step), tool, unseal_args(book, step))


def _keep(book: Book, request: ApprovalRequest, readings: Sequence[Reading], actor: str) -> None:
    step = book.step_of(request)
    tool, args = book.tools.get(step.tool), unseal_args(book, step)
    before = dict(captured(request))
    checks: list[Json] = []
    for condition, reading in zip(tool.pinned.spec.preconditions if tool else (), readings, strict=False):
        checks.append(compared(condition, before.get(condition.name), reading, args).as_json())
    request.checks = canonical(checks)
    request.checked_at = book.now
    book.changed_requests.add(request.id)
    book.note("probed", actor, step=str(step.id), request=str(request.id), conditions=checks)
