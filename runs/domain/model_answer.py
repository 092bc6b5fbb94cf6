"""Reads what a model answered: calls are a turn, text alone is the end, anything else is sent back with a reason."""

from dataclasses import dataclass
from typing import Any

from runs.domain.planning import MAX_PROPOSALS, Finish, Refusal, ToolProposal, Turn
from tools.domain.canonical import Json, canonical, parse
from tools.domain.errors_values import InvalidJson

MAX_TEXT = 100_000


@dataclass(frozen=True)
class ToolUse:
    """A call as it was answered: `arguments` is the text of the provider, to the digit. `fault`: why there is none."""

    tool: str
    arguments: str
    fault: str = ""


@dataclass(frozen=True)
class ModelAnswer:
    """`stopped`: why it stopped, in one word for all providers: stop, tool_call, length, content_filter, error."""

    text: str
    calls: tuple[ToolUse, ...]
    stopped: str

    def stored(self) -> str:
        """Canonical JSON."""
        calls = [[call.tool, call.arguments, call.fault] for call in self.calls]
        return canonical({"text": self.text, "calls": calls, "stopped": self.stopped})


def stored_answer(text: str) -> ModelAnswer:
    """An answer that was kept."""
    raw: Any = parse(text)
    return ModelAnswer(raw["text"], tuple(ToolUse(*call) for call in raw["calls"]), raw["stopped"])


def read_answer(answer: ModelAnswer) -> Turn | Finish | Refusal:
    """What the engine does with it; a refusal is what the model is told instead."""
    if answer.stopped == "length":
        return _unusable("Your answer was longer than it may be and was cut.", "Say less, or make fewer calls at once.")
    if not answer.calls:
        return _finish(answer)
    if answer.text.strip() and answer.stopped == "stop":
        hint = "Make the calls first; answer with text alone when nothing is left to call."
        return _unusable("You ended the task and called tools in one answer.", hint)
    if len(answer.calls) > MAX_PROPOSALS:
        return _unusable(f"You made {len(answer.calls)} calls at once.", f"Make at most {MAX_PROPOSALS}.")
    why = answer.text.strip()[:MAX_TEXT]
    return Turn(tuple(_proposal(call, f"call_{place}", why) for place, call in enumerate(answer.calls, 1)))


def _finish(answer: ModelAnswer) -> Finish | Refusal:
    if answer.stopped == "content_filter":
        return _unusable("The provider held your answer back.", "Answer differently.")
    if not answer.text.strip():
        return _unusable("Your answer was empty.", "Call a tool, or answer the task with text.")
    return Finish(answer.text.strip()[:MAX_TEXT])


def _unusable(message: str, hint: str) -> Refusal:
    return Refusal("planner_invalid", message, retryable=True, hint=hint)


def _proposal(call: ToolUse, call_id: str, why: str) -> ToolProposal:
    if call.fault:
        return ToolProposal(call.tool, None, call_id, why, fault=_unreadable("", call.fault))
    try:
        args: Json = parse(call.arguments) if call.arguments.strip() else {}
    except InvalidJson as error:
        return ToolProposal(call.tool, None, call_id, why, fault=_unreadable(error.pointer, error.message))
    return ToolProposal(call.tool, args, call_id, why)


def _unreadable(pointer: str, detail: str) -> Refusal:
    errors = [{"pointer": pointer, "detail": detail}]
    said = f"The arguments cannot be read: {detail}"
    return Refusal("invalid_arguments", said, retryable=True, hint="Send one JSON object.", extra={"errors": errors})
