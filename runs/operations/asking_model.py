"""Claims a planning and takes in what its model said: reserved before, charged after, fenced like a call."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from agentops.tenancy.ids import uuid7
from agentops.tenancy.sealing import seal
from runs.book import Book
from runs.domain.model_answer import ModelAnswer, ToolUse, read_answer
from runs.domain.model_call import ModelCall
from runs.domain.model_reply import ModelUsage, ProviderFault, Replied, Reply
from runs.domain.model_spec import ModelSpec, read_model
from runs.domain.planning import Ask, Finish, Refusal
from runs.domain.prompt import Prompt
from runs.leases import LEASE_SECONDS
from runs.masking import mask_result
from runs.models import ModelRequest
from runs.planners.memory import recall, remember
from runs.planners.model import sealed_as
from runs.planners.pricing import currency_of
from tools.domain.canonical import Json, canonical, parse
from tools.domain.errors_values import InvalidJson
from tools.domain.secret_schemas import NOTHING_SECRET
from tools.observation import observation_text

PAUSES = (1, 2, 5, 15, 60)
"""Seconds before each try after a provider's fault."""
LONGEST_PAUSE = 900
"""A provider that wants a longer one is not waited for."""
MOST_SHOWN = 400_000


@dataclass(frozen=True)
class Asked:
    """What a worker may now ask. `claimed_at`: `time.monotonic()` when the lease began or a little before."""

    tenant_id: UUID
    run_id: UUID
    call_id: UUID
    number: int
    spec: ModelSpec
    prompt: Prompt = field(repr=False)
    max_output: int
    credential: SecretStr | None
    seconds: float
    claimed_at: float


def ask(book: Book, wanted: Ask, owner: UUID) -> Asked:
    """Write the intent, with its lease, and reserve the most that it can take."""
    spec, before = read_model(book.agent.model), book.model_request
    deadline = book.deadline()
    left = (deadline - book.now).total_seconds() if deadline else spec.seconds
    seconds = min(float(spec.seconds), left)
    row = ModelRequest(
        id=uuid7(),
        tenant_id=book.run.tenant_id,
        run_id=book.run.id,
        number=before.number + 1 if before else 1,
        turn=book.run.turns + 1,
        provider=spec.provider,
        model=spec.name,
        prompt=observation_text(canonical(wanted.prompt.shown()), MOST_SHOWN),
        reserved_tokens=wanted.tokens,
        reserved_money=wanted.money,
        currency=currency_of(spec),
        lease_owner=owner,
        lease_until=book.now + timedelta(seconds=LEASE_SECONDS),
        started_at=book.now,
    )
    book.add(row)
    book.model_request, book.ended_model_request = row, before
    book.charge(reserve={"tokens": wanted.tokens, "money": wanted.money})
    reserved: dict[str, Json] = {"tokens": wanted.tokens, "money": str(wanted.money), "max_output": wanted.max_output}
    book.note("model.asked", **_named(row), provider=spec.provider, model=spec.name, reserved=reserved)
    credential = book.credentials.get(spec.credential) if spec.credential else None
    place = (row.tenant_id, row.run_id, row.id, row.number)
    return Asked(*place, spec, wanted.prompt, wanted.max_output, credential, seconds, book.opened_at)


def take_in(book: Book, asked: Asked, reply: Reply) -> None:
    """What came back, unless the lease was somebody else's by then or the run has ended."""
    row = book.model_request
    if row is None or row.id != asked.call_id or row.outcome is not None:
        _late(book, asked, reply)
        return
    match reply:
        case Replied(answer, usage):
            _answered(book, row, answer, usage)
        case ProviderFault() as fault:
            _failed(book, row, fault)


def lose_overdue(book: Book) -> None:
    """A lease that ended: the worker is gone, and what it may have used is charged."""
    row = book.model_request
    if row is None or row.outcome is not None or row.lease_until > book.now:
        return
    _close(book, row, "lost", "The worker that asked was lost.", None)
    memory = recall(book)
    remember(book, replace(memory, lost=memory.lost + 1))
    book.note("model.lost", **_named(row), charged=row.input_tokens)


def abandon(book: Book) -> None:
    """The run ends while its model is asked: the worker is told to hang up."""
    row = book.model_request
    if row is None or row.outcome is not None:
        return
    _close(book, row, "abandoned", "The run ended before the answer came.", None)
    book.work.cancel_requested = True
    book.note("model.abandoned", **_named(row), charged=row.input_tokens)


def _answered(book: Book, row: ModelRequest, answer: ModelAnswer, usage: ModelUsage) -> None:
    row.sealed = seal(row.tenant_id, sealed_as(row.id), answer.stored().encode())
    row.answer = observation_text(_shown(book, answer), MOST_SHOWN)
    verdict = read_answer(answer)
    used: dict[str, Json] = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost": None if usage.cost is None else str(usage.cost),
        "currency": row.currency,
    }
    if isinstance(verdict, Finish):
        book.charge(use={"steps": 1})
    if not isinstance(verdict, Refusal):
        _close(book, row, "answered", "", usage, answer.stopped)
        book.note("model.answered", _who(row), **_named(row), **used)
        return
    _close(book, row, "unusable", verdict.message, usage, answer.stopped)
    memory = recall(book)
    remark = f"Your last answer could not be used: {verdict.stored()}"
    remember(book, replace(memory, unusable=memory.unusable + 1, remark=remark))
    book.note("model.unusable", _who(row), **_named(row), **used, message=verdict.message)


def _failed(book: Book, row: ModelRequest, fault: ProviderFault) -> None:
    memory = recall(book)
    pause = max(fault.after or 0, PAUSES[min(memory.faults, len(PAUSES) - 1)])
    stop = not fault.again or pause > LONGEST_PAUSE
    _close(book, row, "failed", f"{fault.code}: {fault.message}", None if fault.may_have_used else ModelUsage())
    retry_at = "" if stop else (book.now + timedelta(seconds=pause)).isoformat()
    said = f"{row.provider} {row.model}: {fault.message}"
    if pause > LONGEST_PAUSE:
        said = f"{said} It asks for a pause of {pause:.0f} s."
    remember(book, replace(memory, faults=memory.faults + 1, stop=stop, said=said, retry_at=retry_at))
    told: dict[str, Json] = {"code": fault.code, "message": fault.message, "retry_at": retry_at or None}
    book.note("model.failed", _who(row), **_named(row), **told, charged=row.input_tokens)


def _late(book: Book, asked: Asked, reply: Reply) -> None:
    """Nothing of it is used. What an abandoned request really took replaces what was charged for it."""
    row, usage = book.model_request, _usage(reply)
    book.note("late_answer_refused", call=asked.number)
    if row is not None and row.id == asked.call_id and row.outcome == "abandoned" and usage is not None:
        book.charge(use={"tokens": -row.reserved_tokens, "money": -_counted(book, row.reserved_money)})
        _use(book, row, usage)


def _usage(reply: Reply) -> ModelUsage | None:
    if isinstance(reply, Replied):
        return reply.usage
    return None if reply.may_have_used else ModelUsage()


def _close(
    book: Book, row: ModelRequest, outcome: str, detail: str, usage: ModelUsage | None, stopped: str = ""
) -> None:
    """End the claim. Without a usage, what was reserved counts as used."""
    row.outcome, row.detail, row.finished_at = outcome, detail, book.now
    book.charge(reserve={"tokens": -row.reserved_tokens, "money": -row.reserved_money})
    _use(book, row, usage or ModelUsage(row.reserved_tokens, 0, row.reserved_money))
    book.model_calls.append(_told(row, book.now, stopped))


def _told(row: ModelRequest, now: datetime, stopped: str) -> ModelCall:
    """As a trace shows it."""
    failed = row.detail.partition(":")[0] if row.outcome == "failed" else row.outcome
    return ModelCall(
        id=row.id,
        provider=row.provider,
        model=row.model,
        started_at=row.started_at,
        finished_at=now,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        finish_reason=stopped,
        error="" if row.outcome == "answered" else failed or "",
    )


def _use(book: Book, row: ModelRequest, usage: ModelUsage) -> None:
    row.input_tokens, row.output_tokens, row.cost = usage.input_tokens, usage.output_tokens, usage.cost
    book.charge(use={"tokens": usage.tokens, "money": _counted(book, usage.cost or Decimal(0))})


def _counted(book: Book, cost: Decimal) -> Decimal:
    """Money without a limit has no currency to be counted in: then only the request itself says what it cost."""
    return cost if book.limits.money else Decimal(0)


def _shown(book: Book, answer: ModelAnswer) -> str:
    calls = [{"tool": use.tool, "args": canonical(_shown_args(book, use))} for use in answer.calls]
    text = mask_result(book.run.tenant_id, answer.text, NOTHING_SECRET, book.known_secrets)
    return canonical({"text": text, "calls": calls, "stopped": answer.stopped})


def _shown_args(book: Book, use: ToolUse) -> Json:
    """What cannot be read cannot be masked either, so it is not shown."""
    try:
        args = parse(use.arguments or "{}")
    except InvalidJson:
        return f"{len(use.arguments)} characters that are not JSON"
    tool = book.tools.get(use.tool)
    schema = tool.pinned.spec.secret_input if tool else NOTHING_SECRET
    return mask_result(book.run.tenant_id, args, schema, book.known_secrets)


def _named(row: ModelRequest) -> dict[str, Any]:
    return {"call": row.number, "turn": row.turn}


def _who(row: ModelRequest) -> str:
    return f"model {row.model}"
