"""`@tool`: a tool written in code, its schemas derived from pydantic models."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, SecretStr

from tools.call import CancelSignal
from tools.domain.call_parts import PythonCall
from tools.domain.canonical import parse
from tools.domain.checks import check
from tools.domain.spec import Risk, ToolSpec


@dataclass(frozen=True, slots=True)
class ToolActor:
    """Who the call is made for."""

    sub: str
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool in code is given besides its arguments. `deadline` is `time.monotonic()`."""

    run_id: str
    tenant_id: str
    actor: ToolActor
    idempotency_key: str
    deadline: float
    cancelled: CancelSignal
    credential: SecretStr | None
    traceparent: str = ""


type ToolFunction = Callable[[Any, ToolContext], BaseModel]


@dataclass(frozen=True, slots=True)
class CodeTool:
    """A declared function with its models and its definition."""

    function: ToolFunction
    takes: type[BaseModel]
    gives: type[BaseModel]
    spec: ToolSpec


_DECLARED: dict[str, CodeTool] = {}


def tool(
    *, name: str, description: str, risk: Risk, scope: str, **fields: Any
) -> Callable[[ToolFunction], ToolFunction]:
    """Declare `def f(args: Model, ctx: ToolContext) -> Model` as a tool; `fields` are those of ToolSpec.

    Raises InvalidTool for a definition that could not be saved, TypeError for a function of another shape, ValueError
    for a name that is taken.
    """

    def declare(function: ToolFunction) -> ToolFunction:
        takes, gives = _models(function)
        spec = ToolSpec(
            name=name,
            description=description,
            kind="python",
            risk=risk,
            required_scope=scope,
            input_schema=_schema(takes, "validation"),
            output_schema=_schema(gives, "serialization"),
            python=PythonCall(function=name),
            **fields,
        )
        check(spec)
        if name in _DECLARED and _DECLARED[name].function.__qualname__ != function.__qualname__:
            raise ValueError(f"a tool named {name} is declared already")
        _DECLARED[name] = CodeTool(function, takes, gives, spec)
        return function

    return declare


def declared() -> Mapping[str, CodeTool]:
    """Every tool in code, by name."""
    return dict(_DECLARED)


def _models(function: ToolFunction) -> tuple[type[BaseModel], type[BaseModel]]:
    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters)
    if len(parameters) != 2 or "return" not in hints or parameters[0] not in hints:
        raise TypeError("a tool is a function (args: Model, ctx: ToolContext) -> Model")
    takes, gives = hints[parameters[0]], hints["return"]
    if not all(isinstance(model, type) and issubclass(model, BaseModel) for model in (takes, gives)):
        raise TypeError("a tool takes and gives pydantic models")
    return takes, gives


def _schema(model: type[BaseModel], mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    schema: Any = parse(json.dumps(model.model_json_schema(mode=mode)))
    return dict(schema)
