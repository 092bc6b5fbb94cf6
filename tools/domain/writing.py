"""Exact JSON over several lines, for people who edit it."""

from typing import Any

from tools.domain.canonical import canonical

_STEP = "  "


def written(value: Any, indent: str = "") -> str:
    """The value over several lines; numbers and strings as in the canonical text, keys in the order given."""
    inner = indent + _STEP
    match value:
        case dict() if value:
            lines = [f"{inner}{canonical(key)}: {written(part, inner)}" for key, part in value.items()]
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
        case list() | tuple() if any(isinstance(part, dict | list) for part in value):
            return "[\n" + ",\n".join(inner + written(part, inner) for part in value) + f"\n{indent}]"
        case _:
            return canonical(value)
