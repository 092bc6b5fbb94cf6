"""CEL and JMESPath over exact JSON values: what either language cannot hold exactly is never silently rounded.

CEL has int64 and double. A number beyond them reaches it as a tagged string, and comparing that string with a number
is refused, because CEL itself would answer false and let a `!=` pass.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from tools.domain.canonical import escape
from tools.domain.cel_engine import cel
from tools.domain.errors import ExpressionFailed, InvalidExpression

type Names = Mapping[str, Any]

_TAG = "⟦number "
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_OPERAND = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?u?"
_EQUALITY = re.compile(rf"(?<![\w.])({_OPERAND})\s*(?:==|!=)\s*({_OPERAND})(?![\w.(])")
_KEYWORDS = frozenset({"true", "false", "null"})
_BINDING = re.compile(r"\.(?:map|filter|all|exists|exists_one)\(\s*([A-Za-z_]\w*)\s*,")
_TYPES = frozenset({"bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "type", "uint"})


def check_cel(source: str) -> None:
    """Raises InvalidExpression unless `source` compiles."""
    _program(source)


def names_in(source: str) -> frozenset[str]:
    """The names that the expression reads from outside itself. Raises InvalidExpression."""
    bound = _BINDING.findall(_STRING.sub("''", source))
    return frozenset(_program(source).variables()) - _TYPES - frozenset(bound)


def check_names(source: str, known: Collection[str]) -> None:
    """Raises InvalidExpression unless `source` compiles and reads nothing but `known`."""
    unknown = sorted(names_in(source) - frozenset(known))
    if unknown:
        raise InvalidExpression(f"There is no “{unknown[0]}” here; known are {', '.join(sorted(known))}.")


def check_condition(source: str, known: Collection[str]) -> None:
    """As `check_names`; what reads nothing is evaluated at once, and must be true or false."""
    check_names(source, known)
    if names_in(source):
        return
    try:
        yes_or_no(source, {})
    except ExpressionFailed as error:
        raise InvalidExpression(error.message) from None


def check_jmespath(source: str) -> None:
    """Raises InvalidExpression unless `source` compiles."""
    _search(source)


def evaluate(source: str, names: Names) -> Any:
    """The value of a CEL expression as exact JSON. A plain dotted path is followed without CEL, exactly.

    Raises InvalidExpression, and ExpressionFailed for whatever goes wrong on these values.
    """
    if _PATH.match(source) and source not in _KEYWORDS:
        return _followed(source, names)
    program = _program(source)
    _refuse_inexact_equality(source, names)
    try:
        return _exact(program.execute({name: for_cel(value) for name, value in names.items()}))
    except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError) as error:
        raise ExpressionFailed(f"“{source}” could not be evaluated: {type(error).__name__}.") from None


def yes_or_no(source: str, names: Names) -> bool:
    """Whether the expression is true. Raises as `evaluate` does, and ExpressionFailed for what is no boolean."""
    value = evaluate(source, names)
    if not isinstance(value, bool):
        raise ExpressionFailed(f"“{source}” is neither true nor false.")
    return value


def is_true(source: str, names: Names) -> bool:
    """Whether the expression is exactly true; anything else, a failed evaluation included, is not."""
    try:
        return yes_or_no(source, names)
    except ExpressionFailed:
        return False


def fill(value: Any, names: Names) -> Any:
    """A stored template of JSON with each `{"$cel": ...}` evaluated and each `{"$literal": ...}` unwrapped."""
    match value:
        case {"$cel": str(source), **rest} if not rest:
            return evaluate(source, names)
        case {"$literal": literal, **rest} if not rest:
            return literal
        case dict():
            return {key: fill(part, names) for key, part in value.items()}
        case list():
            return [fill(part, names) for part in value]
        case _:
            return value


def sources(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every `$cel` in a stored template, with its place."""
    if isinstance(value, dict) and len(value) == 1:
        (key, part), *_ = value.items()
        if key == "$cel" and isinstance(part, str):
            yield f"{pointer}/$cel", part
        if key == "$literal" or (key == "$cel" and isinstance(part, str)):
            return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in parts:
        yield from sources(part, f"{pointer}/{escape(str(place))}")


def select(value: Any, path: str) -> Any:
    """The JMESPath selection out of `value`; numbers keep their exact type. Raises ExpressionFailed."""
    try:
        return _search(path).search(value)
    except (JMESPathError, ValueError, TypeError, ArithmeticError) as error:
        raise ExpressionFailed(f"“{path}” could not be selected: {type(error).__name__}.") from None


def for_cel(value: Any) -> Any:
    """`value` as CEL can hold it; numbers that it cannot hold exactly become tagged strings."""
    match value:
        case bool() | None | str():
            return value
        case int():
            return value if -(2**63) <= value < 2**63 else f"{_TAG}{value}⟧"
        case Decimal():
            return float(value) if _is_double(value) else f"{_TAG}{value}⟧"
        case Mapping():
            return {key: for_cel(part) for key, part in value.items()}
        case list() | tuple():
            return [for_cel(part) for part in value]
        case _:
            raise ExpressionFailed("A value is not JSON.")


def _is_double(value: Decimal) -> bool:
    nearest = float(value)
    return nearest not in (float("inf"), float("-inf")) and Decimal(repr(nearest)) == value


def _refuse_inexact_equality(source: str, names: Names) -> None:
    bare = _STRING.sub(lambda found: "'" + "_" * (len(found[0]) - 2) + "'", source)
    for left, right in _EQUALITY.findall(bare):
        kinds = {_operand_kind(left, names), _operand_kind(right, names)}
        if kinds == {"inexact", "number"}:
            raise ExpressionFailed(f"“{source}” compares a number that CEL cannot hold exactly.")


def _operand_kind(operand: str, names: Names) -> str:
    if not _PATH.match(operand):
        return "number"
    if operand in _KEYWORDS:
        return "other"
    try:
        value = for_cel(_followed(operand, names))
    except ExpressionFailed:
        return "other"
    if isinstance(value, str) and value.startswith(_TAG):
        return "inexact"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else "other"


def _followed(path: str, names: Names) -> Any:
    value: Any = names
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ExpressionFailed(f"There is no “{path}”.")
        value = value[part]
    return value


def _exact(value: Any) -> Any:
    match value:
        case bool() | None | int() | str():
            return value
        case float():
            return int(value) if value.is_integer() else Decimal(repr(value))
        case Mapping():
            return {str(key): _exact(part) for key, part in value.items()}
        case list() | tuple():
            return [_exact(part) for part in value]
        case _:
            raise TypeError("not JSON")


@lru_cache(maxsize=2048)
def _program(source: str) -> Any:
    try:
        return cel.compile(source)
    except ValueError as error:
        raise InvalidExpression(str(error).splitlines()[0][:300]) from None


@lru_cache(maxsize=2048)
def _search(path: str) -> ParsedResult:
    try:
        parsed = jmespath.compile(path)
    except (JMESPathError, ValueError) as error:
        raise InvalidExpression(str(error).splitlines()[0][:300]) from None
    _make_literals_exact(parsed.parsed)
    return parsed


def _make_literals_exact(node: Any) -> None:
    if node["type"] == "literal":
        node["value"] = _decimal_literal(node["value"])
    for child in node["children"]:
        if isinstance(child, dict):
            _make_literals_exact(child)


def _decimal_literal(value: Any) -> Any:
    match value:
        case float():
            return int(value) if value.is_integer() else Decimal(repr(value))
        case dict():
            return {key: _decimal_literal(part) for key, part in value.items()}
        case list():
            return [_decimal_literal(part) for part in value]
        case _:
            return value
