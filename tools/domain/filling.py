"""`{args.x}` in what a tool sends, filled in with the call's values."""

import re
from decimal import Decimal
from typing import Any

from tools.domain.canonical import canonical
from tools.domain.outcome import ToolError

PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.[A-Za-z0-9_]\w*)*)\}")
MISSING = object()


def at(path: str, args: dict[str, Any]) -> Any:
    """The value at `args.…`, or MISSING."""
    value: Any = {"args": args}
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return MISSING
        value = value[part]
    return value


def scalar(path: str, value: Any) -> str:
    """The value as text. Raises ToolError `invalid_arguments` for what is no string, number or boolean."""
    match value:
        case str():
            return _sendable(path, value)
        case bool() | int() | Decimal():
            return canonical(value)
        case _:
            raise ToolError(
                "invalid_arguments",
                f"{path} must be a string, a number or a boolean here.",
            )


def _sendable(path: str, value: str) -> str:
    if "\x00" in value:
        raise ToolError("invalid_arguments", f"{path} may not hold U+0000 here.")
    return value
