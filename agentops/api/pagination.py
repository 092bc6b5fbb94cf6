"""Keyset pages: a cursor says after which row the next page starts, signed so that only our own come back."""

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
class Place:
    """The last row of a page: the moment that orders it, and its id."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Page:
    """One page as asked for."""

    after: Place | None
    size: int


def asked_page(request: Request, actor: Actor) -> Page:
    """The `cursor` and `limit` of the query."""
    return Page(after=_after(request, actor), size=_size(request))


def page_of(
    request: Request, actor: Actor, rows: list[dict[str, Any]], last: Place | None, count: int
) -> dict[str, Any]:
    """The answer of a list. `last`: where the next page starts, if there is one; `count`: counted up to 1,001."""
    body: dict[str, Any] = {"results": rows, "next": None, "count": count}
    if count > COUNTED:
        body |= {"count": None, "count_at_least": COUNTED}
    if last is not None:
        query = request.query_params.copy()
        query["cursor"] = _signer(request, actor).sign_object([last.at.isoformat(), str(last.id)])
        body["next"] = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
    return body


def _after(request: Request, actor: Actor) -> Place | None:
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return None
    try:
        at, row = _signer(request, actor).unsign_object(cursor)
        return Place(at=datetime.fromisoformat(at), id=UUID(row))
    except (signing.BadSignature, ValueError, TypeError):
        raise InvalidQuery("cursor", "This is not a cursor that this list gave out.") from None


def _size(request: Request) -> int:
    text = request.query_params.get("limit", str(PAGE))
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MAX_PAGE):
        raise InvalidQuery("limit", f"A whole number from 1 to {MAX_PAGE}.")
    return int(text)


def _signer(request: Request, actor: Actor) -> signing.Signer:
    return signing.Signer(salt=f"agentops.api.cursor {actor.tenant_id} {request.path}")
