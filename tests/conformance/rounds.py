"""Tools and a prompt that need the client's input first: what they ask, and what they answer to it."""

import json
from collections.abc import Callable
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
)

from tests.conformance.contents import text

type Asked = str | InputRequiredResult
type Ask = Callable[[dict[str, Any], Any], Asked]
"""From the answers so far and the sealed state to what is said or asked next."""


def _form(message: str, **properties: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {n: {"type": t} for n, t in properties.items()},
        "required": [*properties],
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(prompt: str) -> CreateMessageRequest:
    messages = [SamplingMessage(role="user", content=text(prompt))]
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=100))


def _need(state: Any = None, **requests: Any) -> InputRequiredResult:
    said = None if state is None else json.dumps(state)
    return InputRequiredResult(input_requests=requests, request_state=said)


def _typed(answers: dict[str, Any], name: str, field: str) -> str | None:
    """What the client's user typed; None until they did."""
    found = getattr(answers.get(name), "content", None)
    value = found.get(field) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None


def _one(answers: dict[str, Any], state: Any) -> Asked:
    name = _typed(answers, "user_name", "name")
    return f"Hello, {name}!" if name else _need(user_name=_form("What is your name?", name="string"))


def _sampling(answers: dict[str, Any], state: Any) -> Asked:
    found = answers.get("capital_question")
    asked = _need(capital_question=_sample("What is the capital of France?"))
    return asked if found is None else f"The model said: {getattr(found.content, 'text', '')}"


def _roots(answers: dict[str, Any], state: Any) -> Asked:
    found = answers.get("client_roots")
    return _need(client_roots=ListRootsRequest()) if found is None else f"{len(found.roots)} roots"


def _stateful(answers: dict[str, Any], state: Any) -> Asked:
    if state == "mine" and "confirm" in answers:
        return "state-ok"
    return _need("mine", confirm=_form("Please confirm", ok="boolean"))


def _several(answers: dict[str, Any], state: Any) -> Asked:
    if state == "several" and {"user_name", "greeting", "client_roots"} <= answers.keys():
        return "All answered."
    return _need(
        "several",
        user_name=_form("What is your name?", name="string"),
        greeting=_sample("Generate a greeting"),
        client_roots=ListRootsRequest(),
    )


def _rounds(answers: dict[str, Any], state: Any) -> Asked:
    if state == "second" and "step2" in answers:
        return "Both rounds are over."
    if state == "first" and "step1" in answers:
        return _need("second", step2=_form("What is your favourite colour?", color="string"))
    return _need("first", step1=_form("What is your name?", name="string"))


ASKING: Final[dict[str, Ask]] = {
    "test_input_required_result_elicitation": _one,
    "test_input_required_result_sampling": _sampling,
    "test_input_required_result_list_roots": _roots,
    "test_input_required_result_request_state": _stateful,
    "test_input_required_result_tampered_state": _stateful,
    "test_input_required_result_multiple_inputs": _several,
    "test_input_required_result_multi_round": _rounds,
}


def by_capability(ctx: ServerRequestContext[Any, Any]) -> Asked:
    """Asks only for what this client said it can do."""
    able = ctx.session.client_capabilities
    requests: dict[str, Any] = {}
    if able and able.sampling is not None:
        requests["sampled"] = _sample("Say anything.")
    if able and able.elicitation is not None:
        requests["elicited"] = _form("What is your name?", name="string")
    return _need(**requests) if requests else "This client can do neither."


def prompt_context(answers: dict[str, Any]) -> Asked:
    """For the prompt that needs one."""
    said = _typed(answers, "user_context", "context")
    return f"Prompt with context: {said}" if said else _need(user_context=_form("Which context?", context="string"))
