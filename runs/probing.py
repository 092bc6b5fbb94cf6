"""Reads conditions and looks calls up, outside any transaction: one read call each, with a short limit."""

import time
from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from django.utils import timezone

from agentops.logs import naming
from agentops.tenancy.transaction import tenant_transaction
from runs.masking import mask_result
from runs.operations.looking_up import Found, Lookup
from runs.operations.readings import MAX_PROBES, ProbeWanted, Reading
from tools.call import PinnedTool
from tools.credentials import credential_for
from tools.domain.canonical import Json, canonical
from tools.domain.errors import ExpressionFailed
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, Unknown
from tools.domain.preconditions import select
from tools.executor import CancelSignal, ToolCall, execute

PROBE_SECONDS = 3.0


class _Unreadable(Exception):
    """The probe brought nothing back; the text says why."""


def read(wanted: Iterable[ProbeWanted]) -> list[Reading]:
    """One reading each; what cannot be read says why. Probes beyond the cap are not made."""
    found = [_read_one(w) if n < MAX_PROBES else _unread(w, "too many conditions") for n, w in enumerate(wanted)]
    done = time.monotonic()
    return [replace(reading, taken=done) for reading in found]


def look_up(lookup: Lookup) -> Found:
    """What the lookup finds, or why it finds nothing."""
    if lookup.tool is None:
        return Found(lookup.step_id, None, "the tool cannot be used now")
    try:
        result = _asked(lookup.tenant_id, lookup.run_id, lookup.tool, lookup.args, lookup.known)
    except _Unreadable as error:
        return Found(lookup.step_id, None, str(error))
    return Found(lookup.step_id, canonical(result))


def _read_one(wanted: ProbeWanted) -> Reading:
    if wanted.tool is None:
        return _unread(wanted, f"the tool {wanted.condition.probe.tool} cannot be used")
    try:
        result = _asked(wanted.tenant_id, wanted.run_id, wanted.tool, wanted.args, wanted.known)
        value = canonical(select(result, wanted.condition.select))
    except _Unreadable as error:
        return _unread(wanted, str(error))
    except ExpressionFailed as error:
        return _unread(wanted, error.message)
    return Reading(wanted.place, wanted.condition.name, value, timezone.now())


def _unread(wanted: ProbeWanted, fault: str) -> Reading:
    return Reading(wanted.place, wanted.condition.name, None, timezone.now(), fault)


def _made(call: ToolCall) -> Outcome:
    with naming(run_id=call.run_id):
        return execute(call)


def _asked(tenant_id: UUID, run_id: UUID, tool: PinnedTool, args: Json, known: frozenset[str]) -> Json:
    """The tool's result with its secrets as tags. Raises _Unreadable."""
    with tenant_transaction(tenant_id):
        credential = credential_for(tenant_id, tool.spec)
    outcome = _made(
        ToolCall(
            tenant_id=tenant_id,
            run_id=run_id,
            step_id=run_id,
            tool=tool,
            args=args if isinstance(args, dict) else {},
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
            return mask_result(tenant_id, result, tool.spec.secret_output, known)
        case Succeeded(fault=fault):
            raise _Unreadable(fault.message if fault else "")
        case Failed(error):
            raise _Unreadable(error.message)
        case Unknown(reason) | NotSent(reason):
            raise _Unreadable(reason)
