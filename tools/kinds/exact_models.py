"""Pydantic models out of exact JSON in strict mode.

Pydantic reads the numbers of JSON as doubles and, of Python values, accepts no string as a UUID or a date. So the
canonical text is validated strictly as JSON, and every number then gets its exact value back.
"""

from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel

from tools.domain.canonical import canonical


def validated(model: type[BaseModel], args: dict[str, Any]) -> BaseModel:
    """The model of `args`. Raises pydantic's ValidationError."""
    return _restored_model(model.model_validate_json(canonical(args), strict=True), args)


def _restored_model(read: BaseModel, original: dict[str, Any]) -> BaseModel:
    changed = {}
    for name, field in type(read).model_fields.items():
        key = field.alias if field.alias is not None and field.alias in original else name
        if key in original:
            value = getattr(read, name)
            exact = _restored(value, original[key], may_be_float=_mentions_float(field.annotation))
            if exact is not value:
                changed[name] = exact
    return read.model_copy(update=changed) if changed else read


def _restored(read: Any, original: Any, *, may_be_float: bool) -> Any:
    match read, original:
        case BaseModel(), dict():
            return _restored_model(read, original)
        case dict(), dict() if set(read) == set(original):
            return {k: _restored(v, original[k], may_be_float=may_be_float) for k, v in read.items()}
        case list(), list() if len(read) == len(original):
            return [_restored(v, o, may_be_float=may_be_float) for v, o in zip(read, original, strict=True)]
        case _:
            return _restored_number(read, original, may_be_float=may_be_float)


def _restored_number(read: Any, original: Any, *, may_be_float: bool) -> Any:
    if isinstance(original, bool) or not isinstance(original, int | Decimal):
        return read
    if isinstance(read, Decimal):
        return Decimal(original)
    return original if isinstance(read, float) and not may_be_float else read


def _mentions_float(annotation: Any) -> bool:
    return annotation is float or any(_mentions_float(part) for part in get_args(annotation))
