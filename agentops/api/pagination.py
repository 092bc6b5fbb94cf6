"""Keyset pages: a cursor says after which row the next page starts, signed so that only our own come back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core import signing
from rest_framework.request import Request

from agentops.api.errors import InvalidQuery
from agentops.tenancy.actor import Actor

PAGE: Final = 50
MAX_PAGE: Final = 200
COUNTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """One page as asked for; `after` is the last row's key of the page before."""

    after: tuple[str, ...] | None
    size: int

    @property
    def after_row(self) -> tuple[datetime, UUID] | None:
        """The key of lists that are ordered by a moment and an id."""
        return None if self.after is None else (datetime.fromisoformat(self.after[0]), UUID(self.after[1]))


def asked_page(request: Request, actor: Actor) -> Asked:
    """The `cursor` and `limit` of the query."""
    return Asked(after=_after(request, actor), size=_size(request))


def page_of(
    request: Request, actor: Actor, rows: Sequence[Mapping[str, Any]], after: Iterable[Any] | None, count: int | None
) -> dict[str, Any]:
    """The answer of a list. `after`: the key where the next page starts, if there is one."""
    body: dict[str, Any] = {"results": rows, "next": None, "count": count}
    if count is None:
        body["count_at_least"] = COUNTED
    if after is not None:
        query = request.query_params.copy()
        query["cursor"] = _signer(request, actor).sign_object([_text(part) for part in after])
        body["next"] = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
    return body


def _text(part: Any) -> str:
    return part.isoformat() if isinstance(part, datetime) else str(part)


def _after(request: Request, actor: Actor) -> tuple[str, ...] | None:
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return None
    try:
        return tuple(_signer(request, actor).unsign_object(cursor))
    except (signing.BadSignature, ValueError):
        raise InvalidQuery("cursor", "This is not a cursor that this list gave out.") from None


def _size(request: Request) -> int:
    text = request.query_params.get("limit", str(PAGE))
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MAX_PAGE):
        raise InvalidQuery("limit", f"A whole number from 1 to {MAX_PAGE}.")
    return int(text)


def _signer(request: Request, actor: Actor) -> signing.Signer:
    """A cursor belongs to one tenant's list under one filter."""
    filters = sorted((name, text) for name, text in request.query_params.items() if name not in {"cursor", "limit"})
    return signing.Signer(salt=f"agentops.api.cursor {actor.tenant_id} {request.path} {filters}")
