"""Rows from Postgres as JSON and to it as text, in statements that travel together."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from itertools import count
from typing import Any, cast
from uuid import UUID

import orjson
from django.db import connections
from django.db.models import BinaryField, DateTimeField, DecimalField, Model, UUIDField
from django.db.models.base import ModelState

from agentops.postgres.base import DatabaseWrapper
from agentops.postgres.trip import Statement, as_text

type Part = tuple[str, tuple[str | None, ...]]
"""SQL with a `$` for each value, to be joined with others."""


def ask(*statements: Statement) -> list[Any]:
    """What these answer, each with one value of JSON or none, in one round trip."""
    return [None if text is None else orjson.loads(text) for text in _backend().together(statements)]


def enqueue(parts: Sequence[Part]) -> None:
    """Execute them as one statement, with what comes next in the transaction or with its end."""
    text = _joined(tuple(sql for sql, _ in parts))
    _backend().queue((text, [value for _, values in parts for value in values]))


def _backend() -> DatabaseWrapper:
    return cast("DatabaseWrapper", connections["default"])


def instance[M: Model](model: type[M], row: Mapping[str, Any]) -> M:
    """A loaded row out of its JSON, made as pickle makes one: Django's own way costs more than the statement."""
    made, values = model.__new__(model), dict(row)
    for name, read in _readers(model):
        if values[name] is not None:
            values[name] = read(values[name])
    made.__dict__.update(values, _state=ModelState())
    made._state.adding, made._state.db = False, "default"
    return made


def new_row[M: Model](model: type[M], **values: Any) -> M:
    """A new row, made in the same way: columns that are not given have their defaults. Raises TypeError."""
    constant, made_up = _defaults(model)
    if not values.keys() <= constant.keys() | made_up.keys():
        raise TypeError(f"{model.__name__} has no {', '.join(values.keys() - constant.keys() - made_up.keys())}.")
    made = model.__new__(model)
    made.__dict__.update({**constant, **{n: make() for n, make in made_up.items() if n not in values}, **values})
    made._state = ModelState()
    return made


def values_of(row: Model) -> dict[str, Any]:
    """What the row holds now."""
    return dict(row.__dict__)


def insertion(model: type[Model], rows: Sequence[Model]) -> Part:
    """All these rows at once."""
    names = _columns(model)
    return _insert(model, len(rows)), tuple(as_text(row.__dict__[name]) for row in rows for name in names)


def change(row: Model, before: Mapping[str, Any]) -> Part | None:
    """What differs from `before`, as `values_of` told it; None when nothing does."""
    now = row.__dict__
    changed = {n: now[n] for n in _columns(type(row)) if before[n] is not now[n] and before[n] != now[n]}
    return setting(type(row), row.pk, changed) if changed else None


def setting(model: type[Model], row_id: UUID, values: Mapping[str, Any]) -> Part:
    """These columns of one row."""
    return _update(model, tuple(values)), (*map(as_text, values.values()), str(row_id))


@cache
def _defaults(model: type[Model]) -> tuple[dict[str, Any], dict[str, Callable[[], Any]]]:
    """Those that are always the same, and those that are made anew for each row."""
    constant: dict[str, Any] = {}
    made_up: dict[str, Callable[[], Any]] = {}
    for field in model._meta.concrete_fields:
        if callable(field.default):
            made_up[field.attname] = field.get_default
        else:
            constant[field.attname] = field.get_default()
    return constant, made_up


@cache
def _columns(model: type[Model]) -> tuple[str, ...]:
    return tuple(f.attname for f in model._meta.concrete_fields)


@lru_cache(maxsize=512)
def _joined(statements: tuple[str, ...]) -> str:
    *ctes, last = statements
    named = ", ".join(f"c{place} AS ({sql})" for place, sql in enumerate(ctes))
    places = count(1)
    return re.sub(r"\$", lambda _: f"${next(places)}", f"WITH {named} {last}" if ctes else last)


@lru_cache(maxsize=512)
def _insert(model: type[Model], rows: int) -> str:
    names = _columns(model)
    row = f"({', '.join('$' for _ in names)})"
    into = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{model._meta.db_table}" ({into}) VALUES {", ".join([row] * rows)}'  # noqa: S608


@lru_cache(maxsize=512)
def _update(model: type[Model], names: Sequence[str]) -> str:
    changes = ", ".join(f'"{name}" = $' for name in names)
    return f'UPDATE "{model._meta.db_table}" SET {changes} WHERE "id" = $'  # noqa: S608


@cache
def _readers(model: type[Model]) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(f.attname, read) for f in model._meta.concrete_fields if (read := _reader(f)) is not None]


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("\\x"))


_uuid = lru_cache(maxsize=4096)(UUID)


def _reader(field: Any) -> Callable[[Any], Any] | None:
    target = field.target_field if field.is_relation else getattr(field, "base_field", field)
    read: Callable[[Any], Any]
    match target:
        case UUIDField():
            read = _uuid
        case DateTimeField():
            read = datetime.fromisoformat
        case DecimalField():
            read = target.to_python
        case BinaryField():
            read = _bytes
        case _:
            return None
    return read if getattr(field, "base_field", None) is None else lambda values: [read(value) for value in values]
