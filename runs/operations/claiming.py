"""Claims a cleared step: every guard again, with fresh conditions, and the intent written before the effect."""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from agentops.tenancy.ids import uuid7
from approvals.domain.binding import Condition
from approvals.domain.policy import Effect
from approvals.gate import Judgement, is_carried
from approvals.models import ApprovalRequest
from runs.book import Book, ToolNow
from runs.domain.guards import first_refusal
from runs.domain.planning import ENDS_RUN, Refusal
from runs.domain.run import TerminalReason
from runs.domain.step import StepEvent
from runs.leases import LEASE_SECONDS
from runs.masking import unseal_args
from runs.models import Attempt, Step
from runs.operations import judging
from runs.operations.checks import captured
from runs.operations.conditions import place_of, taken_for, wanted_probes
from runs.operations.ending import end_when_quiet, refuse, release
from runs.operations.holding import bind, hold
from runs.operations.readings import ProbeWanted, Reading, Readings, fresh
from runs.rows import new_row
from runs.tracing import passed_on
from tools.call import PinnedTool
from tools.domain.canonical import Json, canonical, parse
from tools.domain.preconditions import evaluate
from tools.domain.spec import Precondition

LEASE_MARGIN = timedelta(seconds=5)
LONGEST_LEASE = timedelta(seconds=LEASE_SECONDS)
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Claimed:
    """What a worker may now execute. `claimed_at`: `time.monotonic()` when the lease began or a little before."""

    tenant_id: UUID
    run_id: UUID
    step_id: UUID
    token: int
    tool: PinnedTool
    args: Json
    idempotency_key: str
    principal: str
    scopes: frozenset[str]
    credential: SecretStr | None
    claimed_at: float
    traceparent: str = ""


def probes_due(book: Book, step: Step, readings: Readings) -> list[ProbeWanted]:
    """The conditions of a cleared step that must be read before it may be claimed."""
    tool = book.tools.get(step.tool)
    if tool is None:
        return []
    place = place_of(step)
    wanted = wanted_probes(book, place, tool, unseal_args(book, step))
    return [w for w in wanted if fresh(readings, place, w.condition.name) is None]


def claim(book: Book, step: Step, readings: Readings, owner: UUID) -> Claimed | None:
    """Start the step, or make it stale and say which guard caught it: then nothing runs."""
    args, tool = unseal_args(book, step), book.tools.get(step.tool)
    refusal = late_refusal(book, step, args)
    if refusal is not None or tool is None:
        _give_back(book, step, refusal or Refusal("tool_denied", "The tool is gone."))
        return None
    taken = taken_for(book, step, tool, readings)
    if _asks_again(book, step, tool, taken) or not _conditions_hold(book, step, tool, args, taken):
        return None
    return start(book, step, tool, args, owner)


def start(book: Book, step: Step, tool: ToolNow, args: Json, owner: UUID, *, again: bool = False) -> Claimed:
    """Write the intent: token, lease and attempt. `again`: the earlier attempt's lease ended."""
    spec = tool.pinned.spec
    step.token += 1
    step.lease_owner = owner
    step.lease_until = book.now + min(timedelta(milliseconds=spec.timeout_ms) + LEASE_MARGIN, LONGEST_LEASE)
    step.started_at = step.started_at or book.now
    shown = parse(book.proposals[step.id].args or "{}")
    attempt = new_row(
        Attempt,
        id=uuid7(),
        tenant_id=step.tenant_id,
        step_id=step.id,
        number=step.token,
        args_digest=_digest(shown),
        started_at=book.now,
    )
    book.add(attempt)
    book.attempts[step.id] = attempt
    if not again:
        book.charge(use={"tool_calls": 1}, reserve={"tool_calls": -1})
    event = StepEvent.RESTARTED if again else StepEvent.STARTED
    book.record(step, event, attempt=step.token, args_digest=attempt.args_digest, approved_digest=step.digest)
    return Claimed(
        tenant_id=step.tenant_id,
        run_id=book.run.id,
        step_id=step.id,
        token=step.token,
        tool=tool.pinned,
        args=args,
        idempotency_key=step.idempotency_key or "",
        principal=book.run.principal,
        scopes=book.rights.scopes,
        credential=book.credentials.get(spec.credential) if spec.credential else None,
        claimed_at=book.opened_at,
        traceparent=passed_on(book.run, attempt.id),
    )


def _digest(shown: Json) -> str:
    return sha256(canonical(shown).encode()).hexdigest()


def late_refusal(book: Book, step: Step, args: Json) -> Refusal | None:
    """What the guards say now against making the call."""
    tool = book.tools.get(step.tool)
    drifted = tool is not None and tool.pinned.version_id != step.tool_version
    facts = judging.call_facts(
        book,
        step.tool,
        args,
        earlier=judging.earlier_steps(book, step.fingerprint, but=step),
        drifted=drifted,
        step=step,
        late=True,
    )
    return first_refusal(facts)


def _give_back(book: Book, step: Step, refusal: Refusal) -> None:
    book.record(step, StepEvent.STALED, caught_by=refusal.code, message=refusal.message)
    release(book, step)
    refuse(book, step, refusal)


def _asks_again(book: Book, step: Step, tool: ToolNow, taken: list[Reading]) -> bool:
    """Whether policy or the votes no longer carry the step; then it is refused or people are asked anew."""
    judged = judging.judge(book, step, tool)
    if judged.effect is Effect.DENY:
        _give_back(book, step, Refusal("policy_denied", " ".join(judged.reasons)))
        return True
    request = book.request_of(step)
    objection = _objection(book, step, tool, judged, request)
    if objection is None:
        return False
    book.record(step, StepEvent.STALED, caught_by="approval", message=objection)
    hold(book, step, tool, judged, taken, objection)
    return True


def _objection(book: Book, step: Step, tool: ToolNow, judged: Judgement, request: ApprovalRequest | None) -> str | None:
    if request is None:
        needed = judged.effect is Effect.REQUIRE_APPROVAL
        return "The policy now asks a person." if needed else None
    if judged.effect is Effect.REQUIRE_APPROVAL and judged.asks_more_than(request.quorum, request.group):
        return "The policy now asks more people, or others."
    if not is_carried(request, book.votes_for(request)):
        return "A vote no longer counts: its voter may not decide any more."
    if _bound_digest(book, step, tool, request) != request.digest:
        return "What would be sent is not what was approved."
    return None


def _bound_digest(book: Book, step: Step, tool: ToolNow, request: ApprovalRequest) -> str:
    """The digest over what is about to be sent, with the terms under which it was approved."""
    conditions = [Condition(name, before) for name, before in captured(request)]
    terms = Judgement(Effect.REQUIRE_APPROVAL, (), (), request.quorum, request.group, 0, request.policy_version)
    return bind(book, step, tool, conditions, request.id, terms).digest()


def _conditions_hold(book: Book, step: Step, tool: ToolNow, args: Json, taken: list[Reading]) -> bool:
    """Compare each condition with what it was when people decided; a changed one stops the call."""
    request = book.request_of(step)
    before = dict(captured(request)) if request else _proposed(book, step)
    for condition, reading in zip(tool.pinned.spec.preconditions, taken, strict=True):
        was = before.get(condition.name)
        objection = _changed(condition, was, reading, args)
        if objection is None:
            continue
        book.record(step, StepEvent.STALED, caught_by="precondition_changed", condition=condition.name,
                    before=was, now=reading.value, message=objection)  # fmt: skip
        _react(book, step, tool, taken, condition.on_change, objection)
        return False
    return True


def _proposed(book: Book, step: Step) -> dict[str, str | None]:
    stored: Any = parse(book.proposals[step.id].conditions)
    return {str(name): before for name, before in stored}


def _changed(condition: Precondition, was: object, reading: Reading, args: Json) -> str | None:
    if reading.value is None:
        return f"“{reading.name}” could not be read: {reading.fault}"
    if was is None:
        return None
    verdict = evaluate(condition, parse(str(was)), parse(reading.value), args)
    return None if verdict.ok else f"“{reading.name}”: {verdict.reason}"


def _react(book: Book, step: Step, tool: ToolNow, taken: list[Reading], on_change: str, objection: str) -> None:
    if on_change == "ask_again":
        hold(book, step, tool, judging.judge(book, step, tool), taken, objection)
        return
    release(book, step)
    ends = {ENDS_RUN: TerminalReason.TOOL_FAILED.value} if on_change == "fail" else {}
    hint = "Read again, then propose."
    refuse(book, step, Refusal("precondition_changed", objection, retryable=True, hint=hint, extra=ends))
    if ends:
        end_when_quiet(book, TerminalReason.TOOL_FAILED, objection)
