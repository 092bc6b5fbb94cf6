"""A request in pydantic-ai's words, and its answer in ours; numbers keep every digit in both directions."""

from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from runs.domain.model_answer import ModelAnswer, ToolUse
from runs.domain.prompt import PastTurn, Prompt
from runs.planners.wire import Wire
from tools.domain.canonical import canonical, parse
from tools.domain.errors_values import InvalidJson


def messages_of(prompt: Prompt, wire: Wire) -> list[ModelMessage]:
    """The task, every kept turn with its results, and last what is left."""
    request: list[ModelRequestPart] = [SystemPromptPart(prompt.system), UserPromptPart(prompt.task)]
    messages: list[ModelMessage] = []
    for turn in prompt.turns:
        answered, results = _turn(turn, wire)
        messages += [ModelRequest(parts=request), ModelResponse(parts=answered)]
        request = results
    if prompt.now:
        request.append(UserPromptPart(prompt.now))
    return [*messages, ModelRequest(parts=request)]


def tools_of(prompt: Prompt, wire: Wire) -> ModelRequestParameters:
    """The tools as they are defined: no schema is rewritten for a provider."""
    found = [
        ToolDefinition(
            name=str(tool["name"]),
            description=str(tool["description"]),
            parameters_json_schema=wire.exactly(tool["input_schema"]),
        )
        for tool in prompt.tools
    ]
    return ModelRequestParameters(function_tools=found)


def answer_of(response: ModelResponse, raw: bytes) -> ModelAnswer:
    """What the model said. `raw`: the body, where the library has read arguments as inexact numbers."""
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if any(isinstance(part.args, dict) for part in parts):
        uses = _uses_in(parts, raw)
    else:
        uses = [ToolUse(_clean(part.tool_name), _clean(str(part.args or ""))) for part in parts]
    return ModelAnswer(_clean(text), tuple(uses), response.finish_reason or "")


def _turn(turn: PastTurn, wire: Wire) -> tuple[list[ModelResponsePart], list[ModelRequestPart]]:
    answered: list[ModelResponsePart] = [TextPart(turn.said)] if turn.said else []
    results: list[ModelRequestPart] = []
    for place, call in enumerate(turn.calls, 1):
        name = f"turn_{turn.number}_call_{place}"
        args: Any = wire.exactly(parse(call.args))
        answered.append(ToolCallPart(call.tool, args, tool_call_id=name))
        results.append(ToolReturnPart(call.tool, call.observed, tool_call_id=name))
    return answered, results


def _uses_in(parts: list[ToolCallPart], raw: bytes) -> list[ToolUse]:
    """The calls of a body that holds arguments as JSON, in order: `{"content": [{"type": "tool_use", "input"}]}`."""
    names = [_clean(part.tool_name) for part in parts]
    try:
        body: Any = parse(raw)
    except InvalidJson as error:
        return [ToolUse(name, "", error.message) for name in names]
    blocks = [block["input"] for block in body["content"] if block["type"] == "tool_use"]
    return [ToolUse(name, canonical(given)) for name, given in zip(names, blocks, strict=True)]


def _clean(text: str) -> str:
    """Half a surrogate pair as its escape: as text it can be kept, and as arguments it is refused for what it is."""
    return text.encode("utf-8", "backslashreplace").decode()
