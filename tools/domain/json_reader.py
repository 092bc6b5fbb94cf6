"""Two readers over the standard scanner: one refuses at once, the other marks faults so that they get a place."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.domain.errors_values import DuplicateKey, InvalidJson, NotFinite, NumberTooLong
from tools.domain.numbers import read_fraction, read_integer


class Refused(Exception):
    """The text holds something that JSON allows to be written but that has no exact value."""


@dataclass(frozen=True)
class Mark:
    """Stands in a parsed value where a fault was read."""

    fault: type[InvalidJson]
    detail: str
    key: str | None = None


def _reader(refuse: Callable[[Mark], Any]) -> json.JSONDecoder:
    def constant(text: str) -> Any:
        return refuse(Mark(NotFinite, f"{text} is not a JSON number."))

    def pairs(items: list[tuple[str, Any]]) -> Any:
        read = dict(items)
        if len(read) == len(items):
            return read
        return refuse(Mark(DuplicateKey, "The key appears twice in one object.", _repeated(items)))

    return json.JSONDecoder(
        parse_int=_number(read_integer, refuse),
        parse_float=_number(read_fraction, refuse),
        parse_constant=constant,
        object_pairs_hook=pairs,
    )


def _number(read: Callable[[str], Any], refuse: Callable[[Mark], Any]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        try:
            return read(text)
        except NumberTooLong as error:
            return refuse(Mark(NumberTooLong, error.detail))

    return number


def _repeated(items: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in items:
        if key in seen:
            break
        seen.add(key)
    return key


def _raise(mark: Mark) -> Any:
    raise Refused


READER = _reader(_raise)
MARKING_READER = _reader(lambda mark: mark)
