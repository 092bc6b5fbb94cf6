"""The planner that is a language model: whether it is asked now, with what, and what its kept answer means."""

import secrets
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from agentops.tenancy.sealing import tenant_hmac_key, unseal
from runs.book import Book
from runs.domain.model_answer import read_answer, stored_answer
from runs.domain.model_spec import ModelSpec, read_model
from runs.domain.planning import Answer, Ask, Finish, GiveUp, Refusal, Turn, Wait
from runs.domain.prompt import Prompt, build
from runs.domain.run import TerminalReason
from runs.domain.step import StepStatus
from runs.models import ModelRequest
from runs.planners import pricing
from runs.planners.history import past_turns
from runs.planners.memory import Memory, recall
from tools.domain import secrets as masks
from tools.domain.secret_schemas import NOTHING_SECRET
from tools.registry import manifest_for

MAX_REPLANS = 3
"""Times that a request is made again because its worker was lost."""
MAX_REPAIRS = 3
"""Answers in a row that are sent back before the planner counts as invalid."""
MAX_RETRIES = 5
LEAST_OUTPUT = 16
"""An answer that may not even have so many tokens is not asked for."""


def plan(book: Book) -> Answer:
    """The answer that is kept for the next turn, or what must happen before there is one."""
    call, memory = book.model_request, recall(book)
    if call is not None and call.outcome is None:
        return Wait()
    if call is not None and call.outcome == "answered" and call.turn == book.run.turns + 1:
        return _kept(book, call)
    if (why := _hopeless(book, memory)) is not None:
        return why
    retry = memory.retry_moment
    return Wait() if retry is not None and retry > book.now else _ask(book, memory)


def moments(book: Book) -> list[datetime]:
    """When somebody must look again: a lease that ends, a try that is due."""
    call = book.model_request
    if call is not None and call.outcome is None:
        return [call.lease_until]
    retry = recall(book).retry_moment if book.agent.planner == "model" else None
    return [retry] if retry is not None else []


def sealed_as(call_id: object) -> str:
    """The row that an answer is sealed for."""
    return f"model_call:{call_id}"


def _kept(book: Book, call: ModelRequest) -> Answer:
    answer = stored_answer(unseal(call.tenant_id, sealed_as(call.id), bytes(call.sealed or b"")).decode())
    match read_answer(replace(answer, text=_masked(book, answer.text))):
        case Turn(proposals):
            return Turn(proposals, memory="{}")
        case Finish() as finish:
            return finish
        case Refusal(message=message):
            return GiveUp(TerminalReason.PLANNER_INVALID, message)


def _hopeless(book: Book, memory: Memory) -> GiveUp | None:
    if not book.tenant_active or book.rights.lost:
        why = book.rights.lost if book.tenant_active else "the tenant is suspended."
        return GiveUp(TerminalReason.PLANNER_FAILED, f"Nobody may act in this run any more: {why}")
    limit = book.limits.steps
    if limit is not None and book.run.turns >= limit:
        return GiveUp(TerminalReason.STEP_BUDGET, f"The planner had {limit} turns and did not finish.")
    if memory.lost > MAX_REPLANS:
        return GiveUp(TerminalReason.PLANNER_FAILED, f"{memory.lost} workers were lost while the model was asked.")
    if memory.stop or memory.faults > MAX_RETRIES:
        return GiveUp(TerminalReason.PLANNER_FAILED, memory.said)
    if memory.unusable + _invalid_turns(book) > MAX_REPAIRS:
        said = f"The model's last {MAX_REPAIRS + 1} answers were not valid."
        return GiveUp(TerminalReason.PLANNER_INVALID, f"{said} {memory.remark}".strip())
    return None


def _invalid_turns(book: Book) -> int:
    """How many turns up to now had nothing but invalid arguments."""
    number = book.run.turns
    while number and all(_is_invalid(s.status, s.refusal) for s in book.steps if s.turn == number):
        number -= 1
    return book.run.turns - number


def _is_invalid(status: str, refusal: str | None) -> bool:
    return status == StepStatus.REFUSED.value and '"code":"invalid_arguments"' in (refusal or "")


def _ask(book: Book, memory: Memory) -> Answer:
    spec = read_model(book.agent.model)
    prompt = _prompt(book, spec, memory)
    if prompt is None:
        said = f"The task, the tools and the last results need more than the agent's {spec.context_tokens} tokens."
        return GiveUp(TerminalReason.PLANNER_FAILED, f"{said} Give it a larger context_tokens, or fewer tools.")
    return _affordable(book, spec, prompt)


def _prompt(book: Book, spec: ModelSpec, memory: Memory) -> Prompt | None:
    return build(
        instructions=_masked(book, spec.instructions),
        task=_masked(book, book.run.task),
        given=book.run.input,
        turns=past_turns(book),
        left=_left(book),
        remark=memory.remark,
        tools=_manifest(book),
        fence=secrets.token_hex(16),
        limit=spec.context_tokens,
    )


def _manifest(book: Book) -> list[dict[str, Any]]:
    """What it may call now: in scope, enabled, and of the state that the run's workflow is in."""
    standing = book.workflow.standing if book.workflow else None
    return manifest_for(book.rights.scopes, [tool.pinned for tool in book.tools.values()], standing)


def _masked(book: Book, text: str) -> str:
    key = tenant_hmac_key(book.run.tenant_id)
    return str(masks.mask(text, NOTHING_SECRET, key=key, known=book.known_secrets).value)


def _left(book: Book) -> str:
    """What the budgets leave, in words for the model."""
    limits, used, deadline = book.limits, book.used, book.deadline()
    figures: dict[str, object] = {
        "turns": None if limits.steps is None else limits.steps - book.run.turns,
        "tool calls": None if limits.tool_calls is None else limits.tool_calls - used.tool_calls,
        "seconds": None if deadline is None else max(0, int((deadline - book.now).total_seconds())),
        "tokens": None if limits.tokens is None else limits.tokens - used.tokens,
        "records": None if limits.records is None else limits.records - used.records,
        "result bytes": None if limits.result_bytes is None else limits.result_bytes - used.result_bytes,
        "money": limits.money and f"{limits.money.amount - used.money} {limits.money.currency}",
    }
    told = ", ".join(f"{name} {figure}" for name, figure in figures.items() if figure is not None)
    return f"Left for this task: {told}." if told else ""


def _affordable(book: Book, spec: ModelSpec, prompt: Prompt) -> Answer:
    """The request with as long an answer as tokens and money allow."""
    output = spec.max_output_tokens
    if book.limits.tokens is not None:
        output = min(output, book.limits.tokens - book.used.tokens - prompt.tokens)
    if output < LEAST_OUTPUT:
        return GiveUp(TerminalReason.TOKEN_BUDGET, f"The next request has about {prompt.tokens} tokens.")
    limit = book.limits.money
    if limit is None:
        return Ask(prompt, output, prompt.tokens + output, Decimal(0))
    if pricing.currency_of(spec) != limit.currency or pricing.estimate(spec, 0, 0) is None:
        said = f"The run's money is in {limit.currency}, and no price of {spec.name} in {limit.currency} is known."
        return GiveUp(TerminalReason.PLANNER_FAILED, f"{said} Give the agent's model its prices.")
    left = limit.amount - book.used.money - book.reserved.money
    output = _within(spec, prompt.tokens, output, left)
    cost = pricing.estimate(spec, prompt.tokens, output)
    if output < LEAST_OUTPUT or cost is None or cost > left:
        return GiveUp(TerminalReason.MONEY_BUDGET, f"The next request may cost more than the {left} that are left.")
    return Ask(prompt, output, prompt.tokens + output, cost)


def _within(spec: ModelSpec, asked: int, output: int, left: Decimal) -> int:
    """How long the answer may be for the money that is left; 0 when the request alone costs more."""
    least, most = pricing.estimate(spec, asked, 0), pricing.estimate(spec, asked, output)
    if least is None or most is None or least > left:
        return 0
    return output if most <= left else int(output * (left - least) / (most - least))
