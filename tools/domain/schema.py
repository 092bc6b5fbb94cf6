"""JSON Schema 2020-12, exact for numbers of any size, without any fetch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs

from tools.domain.canonical import canonical, escape, parse, pointer
from tools.domain.errors_values import InvalidSchema

MAX_FAULTS = 20
MAX_SCHEMA = 200_000
_REGEX_LIMIT = jsonschema_rs.RegexOptions(size_limit=1_000_000)


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


def validate(schema: Mapping[str, Any], value: Any) -> list[Fault]:
    """What is wrong with `value`, at most twenty faults; empty when it fits."""
    validator = _compiled(canonical(schema))
    faults = []
    for error in validator.iter_errors(value):
        faults.append(Fault(pointer(error.instance_path), error.message))
        if len(faults) >= MAX_FAULTS:
            break
    return faults


@lru_cache(maxsize=1024)
def _compiled(text: str) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            parse(text), mask="the value", offline=True, pattern_options=_REGEX_LIMIT
        )
    except jsonschema_rs.ValidationError as error:
        raise InvalidSchema(pointer(error.instance_path), error.message) from None
    except ValueError as error:
        raise InvalidSchema("", str(error).splitlines()[0]) from None


def _references(part: Any, place: str) -> Iterator[tuple[str, str]]:
    match part:
        case Mapping():
            for key, inner in part.items():
                if key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                    yield f"{place}/{key}", inner
                if key not in ("const", "enum", "default", "examples"):
                    yield from _references(inner, f"{place}/{escape(str(key))}")
        case list() | tuple():
            for index, inner in enumerate(part):
                yield from _references(inner, f"{place}/{index}")
