"""Counts that stop at a thousand, several of them in one statement."""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet

COUNT_UP_TO = 1000
_NONE: tuple[str, tuple[Any, ...]] = ("SELECT 1 WHERE false", ())


def capped_counts(*rows: QuerySet[Any]) -> list[int]:
    """How many rows each of them has, up to `COUNT_UP_TO` + 1; inside the caller's tenant transaction."""
    parts = [_limited(found) for found in rows]
    counts = ", ".join(f"(SELECT count(*) FROM ({sql}) part)" for sql, _ in parts)  # noqa: S608 - our own querysets
    with connections[rows[0].db].cursor() as cursor:
        cursor.execute(f"SELECT {counts}", [value for _, values in parts for value in values])
        return list(cursor.fetchone())


def _limited(rows: QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    try:
        return rows.order_by().values("id")[: COUNT_UP_TO + 1].query.sql_with_params()
    except EmptyResultSet:
        return _NONE
