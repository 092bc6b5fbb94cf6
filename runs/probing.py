"""Reads conditions, outside any transaction: one read call each, with a short limit."""

import time
from collections.abc import Iterable

from django.utils import timezone

from agentops.tenancy.transaction import tenant_transaction
from runs.operations.readings import MAX_PROBES, ProbeWanted, Reading
from tools.credentials import credential_for
from tools.domain.canonical import canonical
from tools.domain.errors import ExpressionFailed
from tools.domain.outcome import Failed, NotSent, Succeeded, Unknown
from tools.domain.preconditions import select
from tools.executor import CancelSignal, ToolCall, execute

PROBE_SECONDS = 3.0


def read(wanted: Iterable[ProbeWanted]) -> list[Reading]:
    """One reading each; what cannot be read says why. Probes beyond the cap are not made."""
    return [_read_one(w) if place < MAX_PROBES else _unread(w, "too many conditions") for place, w in enumerate(wanted)]


def _read_one(wanted: ProbeWanted) -> Reading:
    tool = wanted.tool
    if tool is None:
        return _unread(wanted, f"the tool {wanted.condition.probe.tool} cannot be used")
    with tenant_transaction(wanted.tenant_id):
        credential = credential_for(wanted.tenant_id, tool.spec)
    outcome = execute(
        ToolCall(
            tenant_id=wanted.tenant_id,
            run_id=wanted.run_id,
            step_id=wanted.run_id,
            tool=tool,
            args=wanted.args if isinstance(wanted.args, dict) else {},
            idempotency_key="",
            actor_sub="probe",
            scopes=frozenset({tool.spec.required_scope}),
            deadline=time.monotonic() + PROBE_SECONDS,
            cancelled=CancelSignal(),
            credential=credential,
        )
    )
    match outcome:
        case Succeeded(result=result, fault=None):
            return _selected(wanted, result)
        case Succeeded(fault=fault):
            return _unread(wanted, fault.message if fault else "")
        case Failed(error):
            return _unread(wanted, error.message)
        case Unknown(reason) | NotSent(reason):
            return _unread(wanted, reason)


def _selected(wanted: ProbeWanted, result: object) -> Reading:
    try:
        value = canonical(select(result, wanted.condition.select))
    except ExpressionFailed as error:
        return _unread(wanted, error.message)
    return Reading(wanted.place, wanted.condition.name, value, timezone.now())


def _unread(wanted: ProbeWanted, fault: str) -> Reading:
    return Reading(wanted.place, wanted.condition.name, None, timezone.now(), fault)
