"""Where a list goes on: its last key as an address carries it, and the link to what follows."""

from typing import Any
from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import QueryDict
from django.utils.dateparse import parse_datetime


def read_cursor(text: str) -> tuple[Any, UUID] | None:
    """The key after which a list goes on, as `write_cursor` wrote it. Raises BadRequest."""
    if not text:
        return None
    at, _, row_id = text.partition("~")
    try:
        moment, found = parse_datetime(at), UUID(row_id)
    except ValueError as error:
        raise BadRequest("bad cursor") from error
    if moment is None or moment.tzinfo is None:
        raise BadRequest("bad cursor")
    return moment, found


def write_cursor(key: tuple[Any, ...] | None) -> str:
    """The address form of a list's last key; empty when there is no next page."""
    return f"{key[0].isoformat()}~{key[1]}" if key else ""


def next_page(asked: QueryDict, after: str | None) -> str:
    """The same list after this key; empty when there is no next page."""
    more = asked.copy()
    more["after"] = after or ""
    return f"?{more.urlencode()}" if after else ""
