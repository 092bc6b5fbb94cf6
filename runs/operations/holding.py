"""Asks people about a step: composes the snapshot that they see and the digest that binds it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from agentops.tenancy.ids import uuid7
from approvals import gate
from approvals.domain.binding import Binding, Condition
from approvals.domain.policy import Effect
from approvals.gate import Asking, Judgement
from approvals.models import ApprovalRequest
from runs.book import Book, ToolNow
from runs.domain.fingerprint import fingerprint
from runs.domain.step import StepEvent, StepStatus
from runs.masking import mask_args, unseal_args
from runs.models import Proposal, Step
from runs.operations.checks import as_proposed
from runs.operations.origins import origins
from runs.operations.readings import Reading
from runs.operations.superseding import changed, supersede
from tools.domain import templates
from tools.domain.canonical import Json, canonical, parse
from tools.domain.command_line import shown
from tools.domain.templates import Text, Verbatim

REPETITIONS_SHOWN = 10


def hold(
    book: Book, step: Step, tool: ToolNow, judgement: Judgement, readings: Sequence[Reading], because: str = ""
) -> ApprovalRequest:
    """Hold the step for people; `because`: why policy alone does not decide.

    An earlier request of it is superseded and never approves anything again.
    """
    proposal = book.proposals[step.id]
    earlier = book.request_of(step)
    conditions = [Condition(r.name, r.value) for r in readings]
    sentence = summary(tool, proposal)
    proposal_conditions = canonical([[c.name, c.before] for c in conditions])
    binding = bind(book, step, tool, conditions, uuid7(), judgement)
    reasons = _reasons(judgement, readings, because)
    request = gate.open_request(
        Asking(
            binding=binding,
            agent=book.run.agent_name,
            acting_for=book.run.acting_for,
            summary="".join(part.text for part in sentence),
            summary_values=templates.places(sentence),
            reasons=reasons,
            tainted=book.run.tainted,
            snapshot=_snapshot(book, step, tool, judgement, proposal_conditions, earlier),
            checks=canonical([as_proposed(r).as_json() for r in readings]),
            checked_at=min((r.read_at for r in readings), default=None),
            requesters=book.run.requesters,
            group=judgement.group,
            expires_in=judgement.expires_in,
            supersedes=earlier.id if earlier else None,
        ),
        book.now,
    )
    if earlier is not None:
        supersede(book, earlier, request, readings)
    book.add(request)
    book.requests[request.id] = request
    step.request_id = request.id
    step.digest = request.digest
    book.record(step, StepEvent.HELD, request=str(request.id), digest=request.digest, reasons=list[Json](reasons))
    return request


def _reasons(judgement: Judgement, readings: Sequence[Reading], because: str) -> list[str]:
    asked = judgement.reasons if judgement.effect is Effect.REQUIRE_APPROVAL else ()
    unread = [f"“{r.name}” could not be read: {r.fault}" for r in readings if r.value is None]
    return [*([because] if because else []), *asked, *unread]


def bind(
    book: Book, step: Step, tool: ToolNow, conditions: Sequence[Condition], request_id: UUID, judged: Judgement
) -> Binding:
    """What an approval of this step would bind, from what would be sent now."""
    proposal, spec = book.proposals[step.id], tool.pinned.spec
    args = unseal_args(book, step)
    return Binding(
        tenant=book.run.tenant_id,
        run=book.run.id,
        step=step.id,
        request=request_id,
        tool=spec.name,
        tool_version=str(tool.pinned.version_id),
        schema_hash=tool.pinned.schema_hash,
        args=mask_args(book.run.tenant_id, args, spec.secret_input, book.known_secrets).hashed,
        target=target(tool, proposal),
        risk=spec.risk,
        egress=spec.egress,
        conditions=conditions,
        policy_version=judged.policy_version,
        quorum=judged.quorum,
    )


def identity(book: Book, tool: ToolNow, proposal: Proposal, hashed: Json, *, again: int) -> str:
    """The fingerprint of this call. `hashed`: its arguments as digests see them."""
    return fingerprint(
        tenant=str(book.run.tenant_id),
        principal=book.run.principal,
        tool=tool.pinned.spec.name,
        tool_version=str(tool.pinned.version_id),
        resource_scope=proposal.resource_scope or str(book.run.tenant_id),
        args_for_digest=hashed,
        again=again,
    )


def target(tool: ToolNow, proposal: Proposal) -> str:
    """What a destructive call acts on: its resource scope, else the tool's name."""
    return proposal.resource_scope or tool.pinned.spec.name


def summary(tool: ToolNow, proposal: Proposal) -> list[Text | Verbatim]:
    """The tool's sentence about this call, with verbatim (masked) values."""
    spec = tool.pinned.spec
    template = spec.approval_summary or (spec.title or spec.name)
    return templates.parts(template, {"args": parse(proposal.args or "{}")})


def _same_call(book: Book, step: Step, tool: ToolNow) -> set[str | None]:
    """The fingerprints of this call as it may have been proposed before: the latest deliberate repetitions too."""
    proposal = book.proposals[step.id]
    if not proposal.again:
        return {step.fingerprint}
    hashed = mask_args(
        book.run.tenant_id, unseal_args(book, step), tool.pinned.spec.secret_input, book.known_secrets
    ).hashed
    latest = range(max(0, proposal.again - REPETITIONS_SHOWN), proposal.again + 1)
    return {identity(book, tool, proposal, hashed, again=n) for n in {0, *latest}}


def _snapshot(
    book: Book, step: Step, tool: ToolNow, judged: Judgement, conditions: str, earlier: ApprovalRequest | None
) -> str:
    proposal, spec, pinned = book.proposals[step.id], tool.pinned.spec, tool.pinned
    args: Any = parse(proposal.args or "{}")
    calls = _same_call(book, step, tool)
    same = [s for s in book.steps if s.fingerprint in calls and s is not step]
    body: dict[str, Json] = {
        "args": args,
        "schema": spec.input_schema,
        "summary": {"template": spec.approval_summary or (spec.title or spec.name)},
        "title": spec.title or spec.name,
        "description": spec.description,
        "tool": spec.name,
        "tool_version": pinned.number,
        "tool_version_id": str(pinned.version_id),
        "schema_hash": pinned.schema_hash,
        "risk": spec.risk,
        "is_effect": spec.is_effect,
        "target": target(tool, proposal),
        "egress": list(spec.egress),
        "conditions": parse(conditions),
        "command": shown(spec, args, step.idempotency_key or "") if spec.command else None,
        "idempotency": spec.idempotency,
        "idempotency_key": step.idempotency_key,
        "fingerprint": step.fingerprint,
        "why": proposal.why,
        "provenance": origins(book, step, args),
        "again": proposal.again,
        "rules": list(judged.rules),
        "policy_version": judged.policy_version,
        "earlier": [{"step": str(s.id), "turn": s.turn, "index": s.index, "status": s.status} for s in same],
        "budget": {
            "limit": parse(book.run.limits),
            "used": parse(book.run.used),
            "reserved": parse(book.run.reserved),
            "this": {"money": str(step.charge_money), "records": step.charge_records},
        },
        "supersedes": str(earlier.id) if earlier else None,
        "changed": changed(earlier, conditions),
        "step_status": StepStatus.HELD.value,
    }
    return canonical(body)
