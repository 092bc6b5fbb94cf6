"""What pydantic finds wrong, as JSON pointers and sentences that say what to do and repeat no input."""

from collections.abc import Collection

from pydantic import ValidationError

from tools.domain.canonical import escape
from tools.domain.errors import SpecFault

_WORDS = {"extra_forbidden": "This field is not known; remove it.", "missing": "This field is needed."}


def faults_of(error: ValidationError, prefix: str = "", *, skip: Collection[str] = ()) -> list[SpecFault]:
    """Every fault, below `prefix`. `skip`: names of union branches, which pydantic puts into its places."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [SpecFault(prefix + place(fault["loc"], skip), _sentence(fault["type"], fault["msg"])) for fault in found]


def place(location: tuple[int | str, ...], skip: Collection[str] = ()) -> str:
    """The pointer to a pydantic location."""
    return "".join(f"/{escape(str(part))}" for part in location if part not in skip)


def _sentence(kind: str, message: str) -> str:
    return _WORDS.get(kind, message.removeprefix("Value error, "))
