"""Try a tool without an agent: a read runs for real, a change only shows what would be sent."""

import time
from dataclasses import dataclass, replace
from typing import Any

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import TOOLS_WRITE
from agentops.tenancy.sealing import tenant_hmac_key
from agentops.tenancy.transaction import tenant_transaction
from tools.call import CancelSignal, PinnedTool, ToolCall
from tools.credentials import credential_for, known_secrets
from tools.domain import command_line, secrets, templates
from tools.domain.canonical import canonical, parse
from tools.domain.errors import ToolNotFound
from tools.domain.http_request import build
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, ToolError, ToolFault, Unknown
from tools.domain.schema import Fault, validate
from tools.domain.spec import ToolSpec
from tools.executor import execute
from tools.registry import current_versions

MAX_SECONDS = 30.0
_KEY = "dry-run"


@dataclass(frozen=True, slots=True)
class WouldSend:
    """What a change would do: the request as it would leave, or the command (`argv`, and `body` on its standard input)
    as it would be started, secrets as tags; for code the arguments.
    """

    summary: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str | None
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DryRun:
    """`faults`: the arguments do not fit. `outcome`: a read that ran. `would_send`: a change that did not."""

    tool: PinnedTool
    faults: tuple[Fault, ...] = ()
    outcome: Outcome | None = None
    would_send: WouldSend | None = None
    refused: ToolFault | None = None


def dry_run(actor: Actor, name: str, args: dict[str, Any]) -> DryRun:
    """Try the current version. Raises ToolNotFound. No transaction is open while it runs."""
    require_scope(actor, TOOLS_WRITE)
    with tenant_transaction(actor.tenant_id):
        tool = current_versions(actor.tenant_id, [name]).get(name)
        if tool is None:
            raise ToolNotFound
        credential, known = credential_for(actor.tenant_id, tool.spec), known_secrets(actor.tenant_id)
    faults = tuple(validate(tool.spec.input_schema, args))
    if faults:
        return DryRun(tool, faults=faults)
    if tool.spec.is_effect:
        return _shown(actor, tool, args, known)
    call = ToolCall(
        tenant_id=actor.tenant_id,
        run_id=uuid7(),
        step_id=uuid7(),
        tool=tool,
        args=args,
        idempotency_key=_KEY,
        actor_sub=actor.principal,
        scopes=actor.scopes,
        deadline=time.monotonic() + MAX_SECONDS,
        cancelled=CancelSignal(),
        credential=credential,
    )
    return DryRun(tool, outcome=_masked(actor, tool.spec, execute(call), known))


def _masked(actor: Actor, spec: ToolSpec, outcome: Outcome, known: frozenset[str]) -> Outcome:
    """The outcome as everybody may see it."""
    key = tenant_hmac_key(actor.tenant_id)
    match outcome:
        case Succeeded(result, _, fault):
            shown: Any = secrets.mask(result, spec.output_schema, key=key, known=known).value
            return Succeeded(shown, canonical(shown), fault and _told(fault, key, known))
        case Failed(error):
            return Failed(_told(error, key, known))
        case Unknown() | NotSent():
            return outcome


def _told(fault: ToolFault, key: bytes, known: frozenset[str]) -> ToolFault:
    told: Any = secrets.mask([fault.message, fault.hint], {}, key=key, known=known).value
    return replace(fault, message=told[0], hint=told[1])


def _shown(actor: Actor, tool: PinnedTool, args: dict[str, Any], known: frozenset[str]) -> DryRun:
    spec = tool.spec
    key = tenant_hmac_key(actor.tenant_id)
    masked: Any = secrets.mask(args, spec.input_schema, key=key, known=known).value
    summary = templates.render(spec.approval_summary, {"args": masked}) if spec.approval_summary else ""
    try:
        return DryRun(tool, would_send=_would_send(spec, masked, summary))
    except ToolError as error:
        return DryRun(tool, refused=error.fault)


def _would_send(spec: ToolSpec, masked: dict[str, Any], summary: str) -> WouldSend:
    if spec.kind == "command":
        line = command_line.build(spec, masked, _KEY)
        return WouldSend(summary, "", "", (), line.stdin or None, line.argv)
    if spec.kind != "http":
        return WouldSend(summary, "", spec.name, (), canonical(parse(canonical(masked))))
    request = build(spec, masked, _KEY)
    bearer = (("Authorization", "Bearer (credential)"),) if spec.credential is not None else ()
    return WouldSend(summary, request.method, request.url, (*request.headers, *bearer), request.body)
