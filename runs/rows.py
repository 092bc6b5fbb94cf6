"""Rows to and from Postgres as JSON, in statements that are planned once a connection, whatever the rows hold."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import DateTimeField, DecimalField, Model, UUIDField
from django.db.models.base import ModelState
from psycopg import Cursor, RawCursor

type Statement = tuple[str, tuple[str | UUID, ...]]
"""Text with a `$` for each value."""


def preparing(kind: type[Cursor[Any]] = Cursor) -> CursorWrapper:
    """A cursor whose statements are planned once a connection: planning these costs more than running them."""
    connection.ensure_connection()
    return connection.make_cursor(kind(connection.connection))  # type: ignore[arg-type]  # it wraps any cursor


def instance[M: Model](model: type[M], row: Mapping[str, Any]) -> M:
    """A loaded row out of its JSON, made as pickle makes one: Django's own way costs more than the statement."""
    made, values = model.__new__(model), dict(row)
    for name, read in _readers(model):
        if values[name] is not None:
            values[name] = read(values[name])
    made.__dict__.update(values, _state=ModelState())
    made._state.adding, made._state.db = False, "default"
    return made


def values_of(row: Model) -> dict[str, Any]:
    """What the row holds now."""
    return dict(row.__dict__)


def insertion(model: type[Model], rows: Sequence[Model]) -> Statement:
    """All these rows at once."""
    names = _columns(model)
    return _insert(model), (_json([_shown({name: row.__dict__[name] for name in names}) for row in rows]),)


def change(row: Model, before: Mapping[str, Any]) -> Statement | None:
    """What differs from `before`, as `values_of` told it; None when nothing does."""
    now = row.__dict__
    changed = {n: now[n] for n in _columns(type(row)) if before[n] is not now[n] and before[n] != now[n]}
    return setting(type(row), row.pk, changed) if changed else None


def setting(model: type[Model], row_id: UUID, values: Mapping[str, Any]) -> Statement:
    """These columns of one row."""
    return _update(model, tuple(values)), (_json(_shown(values)), row_id)


def execute_all(parts: Sequence[Statement]) -> None:
    """As one statement."""
    *ctes, last = [sql for sql, _ in parts]
    named = ", ".join(f"c{place} AS ({sql})" for place, sql in enumerate(ctes))
    values = [value for _, own in parts for value in own]
    places = (f"${place}" for place in range(1, len(values) + 1))
    text = re.sub(r"\$", lambda _: next(places), f"WITH {named} {last}" if ctes else last)
    with preparing(RawCursor) as cursor:
        cursor.execute(text, values)


def storable(text: str) -> str:
    """As the database takes it: it has no U+0000 in text, so that is written as its escape."""
    return text.replace("\0", "\\u0000")


@cache
def _columns(model: type[Model]) -> tuple[str, ...]:
    return tuple(f.attname for f in model._meta.concrete_fields)


def _shown(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def _json(value: object) -> str:
    return orjson.dumps(value, default=_rare).decode()


def _rare(value: object) -> str:
    match value:
        case Decimal():
            return str(value)
        case bytes() | memoryview():
            return "\\x" + value.hex()
        case _:
            raise TypeError(type(value).__name__)


@cache
def _insert(model: type[Model]) -> str:
    names = ", ".join(f'"{name}"' for name in _columns(model))
    told = _told(model, _columns(model))
    return f'INSERT INTO "{model._meta.db_table}" ({names}) SELECT {names} FROM json_to_recordset($) AS {told}'  # noqa: S608


@lru_cache(maxsize=512)
def _update(model: type[Model], names: Sequence[str]) -> str:
    changes = ", ".join(f'"{name}" = told."{name}"' for name in names)
    # The id is a value of its own: joined to what was told, it would be looked for among all rows of the tenant.
    table, told = model._meta.db_table, _told(model, names)
    return f'UPDATE "{table}" kept SET {changes} FROM json_to_record($) AS {told} WHERE kept."id" = $'  # noqa: S608


def _told(model: type[Model], names: Sequence[str]) -> str:
    fields = {f.attname: f for f in model._meta.concrete_fields}
    return f"told({', '.join(f'"{name}" {fields[name].db_type(connection)}' for name in names)})"


@cache
def _readers(model: type[Model]) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(f.attname, read) for f in model._meta.concrete_fields if (read := _reader(f)) is not None]


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
        case _:
            return None
    return read if getattr(field, "base_field", None) is None else lambda values: [read(value) for value in values]
