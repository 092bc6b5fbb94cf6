"""What a transaction brings to its end, as spans: the run, its model calls, its tool calls, its waits for people.

A span is made of rows when it is over, with the database's times: a wait may last for days, and nothing is held open
meanwhile. Arguments and results stay out of it, unless AGENTOPS_TRACE_CONTENT says otherwise.
"""

import re
from datetime import datetime
from uuid import UUID

from agentops.env import env
from agentops.telemetry.context import Trace, trace_of
from agentops.telemetry.traces import Span, Value, traces
from approvals.domain.decision import RequestStatus
from approvals.models import ApprovalRequest
from runs.book import Book
from runs.domain.model_call import ModelCall
from runs.domain.run import FINAL, RunStatus
from runs.domain.step import StepStatus
from runs.models import Attempt, Run, Step
from tools.domain.canonical import parse

_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}")
_WENT_WELL = frozenset({"succeeded", "handed_back"})


def passed_on(run: Run, attempt_id: UUID) -> str:
    """The `traceparent` that this attempt gives to its tool; empty for none."""
    return traces.passed_on(_trace(run), attempt_id)


def trace_id(run: Run) -> str:
    """Under which a collector keeps the run."""
    return _trace(run).trace_id


def ended(book: Book) -> list[Span]:
    """Every stretch that ends with what is about to be written."""
    spans = [_chat(book, call) for call in book.model_calls]
    spans += [_wait(book, request) for request in book.requests.values() if _closes(book, request)]
    spans += [_attempt(book, attempt) for attempt in book.closed]
    spans += [_unmade(book, step) for step in book.steps if _is_settled_unmade(book, step)]
    return [*spans, _run(book)] if _ends(book) else spans


def _trace(run: Run) -> Trace:
    return trace_of(run.id, run.traceparent)


def _ends(book: Book) -> bool:
    before = book.loaded.get((Run, book.run.id))
    return before is not None and book.is_final and RunStatus(before["status"]) not in FINAL


def _closes(book: Book, request: ApprovalRequest) -> bool:
    before = book.loaded.get((ApprovalRequest, request.id))
    pending = RequestStatus.PENDING.value
    return before is not None and before["status"] == pending and request.status != pending


def _is_settled_unmade(book: Book, step: Step) -> bool:
    """Refused, or answered from memory: no attempt tells of it."""
    settled = step.status in (StepStatus.REFUSED.value, StepStatus.SUCCEEDED.value)
    return settled and step.started_at is None and any(moved == step.id for moved, _ in book.hops)


def _run(book: Book) -> Span:
    run = book.run
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": str(book.agent.agent_id),
        "gen_ai.agent.name": run.agent_name,
        "gen_ai.agent.version": str(book.agent.number),
        "agentops.run.id": str(run.id),
        "agentops.tenant.id": str(run.tenant_id),
        "agentops.planner": book.agent.planner,
        "agentops.status": run.status,
        "agentops.terminal_reason": run.terminal_reason or "",
        "agentops.turns": run.turns,
        "agentops.waited_seconds": run.waited_seconds,
    }
    for budget, (limit, used) in _budgets(book).items():
        attributes[f"agentops.budget.{budget}.used"] = used
        if limit is not None:
            attributes[f"agentops.budget.{budget}.limit"] = limit
    error = "" if run.status == RunStatus.SUCCEEDED.value else run.terminal_reason or ""
    name = f"invoke_agent {run.agent_name}"
    return Span(name, _trace(run), run.id, run.created_at, book.now, attributes, is_root=True, error=error)


def _budgets(book: Book) -> dict[str, tuple[Value | None, Value]]:
    """Each as (limit, used); money as its exact text."""
    limits, used = book.limits, book.used
    money = f"{limits.money.amount} {limits.money.currency}" if limits.money else None
    seconds = (book.now - book.run.created_at).total_seconds() - book.run.waited_seconds
    return {
        "steps": (limits.steps, book.run.turns),
        "tool_calls": (limits.tool_calls, used.tool_calls),
        "seconds": (limits.seconds, seconds),
        "money": (money, str(used.money)),
        "records": (limits.records, used.records),
        "tokens": (limits.tokens, used.tokens),
        "result_bytes": (limits.result_bytes, used.result_bytes),
    }


def _chat(book: Book, call: ModelCall) -> Span:
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.provider,
        "gen_ai.request.model": call.model,
        "gen_ai.response.model": call.model,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "agentops.run.id": str(book.run.id),
    }
    if call.finish_reason:
        attributes["gen_ai.response.finish_reasons"] = call.finish_reason
    name, error = f"chat {call.model}", _code(call.error)
    trace = _trace(book.run)
    return Span(name, trace, call.id, call.started_at, call.finished_at, attributes, is_request=True, error=error)


def _wait(book: Book, request: ApprovalRequest) -> Span:
    attributes: dict[str, Value] = {
        "gen_ai.tool.name": request.tool,
        "agentops.run.id": str(book.run.id),
        "agentops.step.id": str(request.step_id),
        "agentops.approval.id": str(request.id),
        "agentops.approval.outcome": request.status,
        "agentops.approval.quorum": request.quorum,
        "agentops.risk": request.risk,
    }
    name = f"wait_for_approval {request.tool}"
    return Span(name, _trace(book.run), request.id, request.opened_at, request.decided_at or book.now, attributes)


def _attempt(book: Book, attempt: Attempt) -> Span:
    step = next(s for s in book.steps if s.id == attempt.step_id)
    outcome = attempt.outcome or ""
    attributes = _call(book, step) | {"agentops.attempt": attempt.number, "agentops.outcome": outcome}
    error = "" if outcome in _WENT_WELL else _refused_as(step) or f"outcome_{outcome}"
    return _execute_tool(book, step, attempt.id, attempt.started_at, attributes, error)


def _unmade(book: Book, step: Step) -> Span:
    attributes = _call(book, step) | {"agentops.attempt": 0, "agentops.outcome": step.status}
    return _execute_tool(book, step, step.id, book.now, attributes, _refused_as(step))


def _execute_tool(book: Book, step: Step, row: UUID, start: datetime, attributes: dict[str, Value], error: str) -> Span:
    # A name that is no tool's is whatever the planner wrote.
    name = f"execute_tool {step.tool}" if step.tool in book.tools else "execute_tool"
    trace = _trace(book.run)
    return Span(name, trace, row, start, book.now, attributes, error=error, follows=step.request_id)


def _call(book: Book, step: Step) -> dict[str, Value]:
    tool, proposal = book.tools.get(step.tool), book.proposals.get(step.id)
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": str(step.id),
        "agentops.run.id": str(book.run.id),
        "agentops.step.id": str(step.id),
        "agentops.turn": step.turn,
        "agentops.risk": step.risk,
    }
    if tool is not None:
        attributes["gen_ai.tool.name"] = step.tool
        attributes["agentops.tool.kind"] = tool.pinned.spec.kind
        attributes["agentops.tool.version"] = step.tool_version_number or tool.pinned.number
    seen = book.observations.get(step.id)
    if env().agentops_trace_content:
        attributes["gen_ai.tool.call.arguments"] = proposal.args or "" if proposal else ""
        attributes["gen_ai.tool.call.result"] = seen.content if seen else ""
    return attributes


def _refused_as(step: Step) -> str:
    refusal = parse(step.refusal) if step.refusal else None
    return _code(str(refusal.get("code", ""))) if isinstance(refusal, dict) else ""


def _code(text: str) -> str:
    """A code as it is; a tool of one's own may put anything there, so everything else is one word."""
    return text if text == "" or _CODE.fullmatch(text) else "error"
