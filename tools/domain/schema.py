"""JSON Schema 2020-12, exact for numbers of any size, without any fetch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, Inexact
from functools import lru_cache
from typing import Any

import jsonschema_rs

from tools.domain.canonical import canonical, escape, parse, pointer
from tools.domain.errors_values import InvalidSchema

type Validator = jsonschema_rs.Draft202012Validator

MAX_FAULTS = 20
MAX_SCHEMA = 200_000
_REGEX_LIMIT = jsonschema_rs.RegexOptions(size_limit=1_000_000)
_EXACT = Context(prec=2 * 1000 + 2 * 308 + 16, rounding=ROUND_FLOOR, Emax=9_999, Emin=-9_999, traps=[Inexact])
_VALUES_OF_SCHEMAS = ("const", "enum", "default", "examples")
_WORDS_THAT_FETCH = ("$ref", "$dynamicRef")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a value: a JSON pointer into it and a sentence that repeats no value."""

    pointer: str
    detail: str


def check_schema(schema: Mapping[str, Any], *, root_object: bool = False) -> None:
    """Raises InvalidSchema naming the place: not a schema, too large, a remote `$ref`, a root that is no object."""
    text = canonical(schema)
    if len(text) > MAX_SCHEMA:
        raise InvalidSchema("", f"A schema has at most {MAX_SCHEMA} characters.")
    for place, target in _references(schema, ""):
        if not target.startswith("#"):
            raise InvalidSchema(place, "Only references inside the schema (`#...`) are allowed.")
    if root_object and schema.get("type") != "object":
        raise InvalidSchema("/type", 'The root of an input schema has "type": "object".')
    _compiled(text)


def compiled(schema: Mapping[str, Any]) -> Validator:
    """The schema ready for `faults_in`, for who keeps it."""
    return _compiled(canonical(schema))


def validate(schema: Mapping[str, Any], value: Any) -> list[Fault]:
    """What is wrong with `value`, at most twenty faults; empty when it fits."""
    return faults_in(compiled(schema), value)


def faults_in(validator: Validator, value: Any) -> list[Fault]:
    """As `validate`, with a schema that is ready."""
    faults: list[Fault] = []
    for error in validator.iter_errors(value):
        faults.append(Fault(pointer(error.instance_path), _worded(error.message)))
        if len(faults) >= MAX_FAULTS:
            break
    return faults


def _worded(message: str) -> str:
    return "this is not allowed here" if message.startswith("False schema") else message


class _MultipleOf:
    """Stands in for the library's own, which goes through doubles when a fraction meets a whole number."""

    def __init__(self, parent_schema: Mapping[str, Any], value: Any, schema_path: list[str | int]) -> None:
        self.divisor = Decimal(str(value))

    def validate(self, instance: Any) -> None:
        """Numbers only; anything else is for `type` to judge."""
        if isinstance(instance, bool) or not isinstance(instance, (int, float, Decimal)):
            return
        if _EXACT.remainder(Decimal(str(instance)), self.divisor) != 0:
            raise ValueError(f"the value is not a multiple of {canonical(self.divisor)}")


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Validator:
    schema: Any = parse(text)
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            mask="the value",
            offline=True,
            pattern_options=_REGEX_LIMIT,
            keywords={"multipleOf": _MultipleOf},
        )
    except jsonschema_rs.ValidationError as error:
        raise InvalidSchema(pointer(error.instance_path), error.message) from None
    except ValueError as error:
        raise InvalidSchema("", str(error).splitlines()[0]) from None


def _references(part: Any, place: str) -> Iterator[tuple[str, str]]:
    children: Any = ()
    if isinstance(part, Mapping):
        children = [(str(key), inner) for key, inner in part.items() if key not in _VALUES_OF_SCHEMAS]
    elif isinstance(part, (list, tuple)):
        children = [(str(index), inner) for index, inner in enumerate(part)]
    for name, inner in children:
        here = f"{place}/{escape(name)}"
        if name in _WORDS_THAT_FETCH and isinstance(inner, str):
            yield here, inner
        yield from _references(inner, here)
