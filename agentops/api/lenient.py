"""Reads a turn whose JSON is well formed although one proposal's arguments are not exact: that one is refused alone."""

import json
import re
from decimal import Decimal

from runs.domain.planning import Refusal
from tools.domain.canonical import Json, parse
from tools.domain.errors_values import DuplicateKey, InvalidJson, LoneSurrogate, NumberTooLong, TooDeep, TooManyLeaves

_INSIDE = re.compile(r"/proposals/(\d{1,2})/args(?:/|$)")
_OF_A_VALUE = (DuplicateKey, LoneSurrogate, NumberTooLong, TooDeep, TooManyLeaves)


def read_proposals(raw: bytes) -> tuple[Json, dict[int, Refusal]]:
    """The body, and for each proposal whose arguments cannot be kept exactly the refusal that its step will have.

    Raises InvalidJson for every other fault of the text.
    """
    faults: dict[int, Refusal] = {}
    text: bytes | str = raw
    while True:
        try:
            return parse(text), faults
        except _OF_A_VALUE as error:
            place = _INSIDE.match(error.pointer)
            if place is None or int(place[1]) in faults:
                raise
            faults[int(place[1])] = _refusal(error)
            text = _without_args(raw, faults)


def _refusal(error: InvalidJson) -> Refusal:
    pointer = "/args" + error.pointer.split("/args", 1)[1]
    errors = [{"pointer": pointer, "detail": error.detail}]
    return Refusal("invalid_arguments", f"{pointer}: {error.detail}", retryable=True, extra={"errors": errors})


def _without_args(raw: bytes, faults: dict[int, Refusal]) -> str:
    """The same body with null for the faulty arguments; every other number keeps its spelling."""
    body = json.loads(raw, parse_float=_Spelled, parse_int=_Spelled)
    for place in faults:
        body["proposals"][place]["args"] = None
    return _spelled(body)


class _Spelled(str):
    """A number as it was written."""

    __slots__ = ()


def _spelled(value: object) -> str:
    match value:
        case _Spelled() | Decimal():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k)}:{_spelled(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(_spelled(v) for v in value) + "]"
        case _:
            return json.dumps(value)
