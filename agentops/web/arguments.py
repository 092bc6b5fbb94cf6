"""What a tool takes, told from its input schema: a row an argument, and a first draft to try it with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.domain.canonical import Json, canonical

_DRAFTS: Mapping[str, Json] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}, "null": None}


@dataclass(frozen=True)
class Argument:
    """One property of the arguments. `values`: the only ones that are allowed, as JSON; empty when any is."""

    name: str
    title: str
    type: str
    required: bool
    values: str


def arguments(schema: Any) -> list[Argument]:
    """The properties in the schema's order."""
    required = set(_required(schema))
    return [
        Argument(
            name,
            str(part.get("title") or part.get("description") or ""),
            " or ".join(_types(part)),
            name in required,
            ", ".join(canonical(value) for value in part.get("enum") or ()),
        )
        for name, part in _properties(schema).items()
    ]


def draft(schema: Any) -> str:
    """Arguments with every required property, to be filled in."""
    known = _properties(schema)
    lines = [f"  {canonical(name)}: {canonical(_example(known.get(name) or {}))}" for name in _required(schema)]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def _example(part: Mapping[str, Any]) -> Json:
    for key in ("default", "const"):
        if key in part:
            found: Json = part[key]
            return found
    listed = part.get("enum") or part.get("examples")
    return listed[0] if listed else _DRAFTS.get(next(iter(_types(part)), ""), "")


def _types(part: Mapping[str, Any]) -> list[str]:
    kind = part.get("type")
    return [kind] if isinstance(kind, str) else list(kind or ())


def _required(schema: Any) -> list[str]:
    return list(schema.get("required") or ()) if isinstance(schema, dict) else []


def _properties(schema: Any) -> dict[str, Any]:
    known = schema.get("properties") if isinstance(schema, dict) else None
    return {name: part for name, part in (known or {}).items() if isinstance(part, dict)}
