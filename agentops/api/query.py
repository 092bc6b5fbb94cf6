"""Query parameters, each checked: an unknown one or a wrong value is refused instead of ignored."""

from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime
from rest_framework.request import Request

from agentops.api.errors import InvalidQuery

_PAGING = frozenset({"cursor", "limit"})


def known_only(request: Request, *names: str, paging: bool = True) -> None:
    """Refuses parameters that this resource does not have."""
    known = {*names, *(_PAGING if paging else ())}
    for name in request.query_params:
        if name not in known:
            raise InvalidQuery(name, "This parameter is not known.")


def word(request: Request, name: str, allowed: frozenset[str] | None = None) -> str | None:
    """A word out of `allowed`, or any text."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if "\x00" in text or len(text) > 200:
        raise InvalidQuery(name, "This is not a usable value.")
    if allowed is not None and text not in allowed:
        raise InvalidQuery(name, f"One of {', '.join(sorted(allowed))}.")
    return text


def moment(request: Request, name: str) -> datetime | None:
    """An RFC 3339 time with its zone."""
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        # A plus sign that was not escaped arrives as a space.
        found = parse_datetime(text.replace(" ", "+"))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidQuery(name, "An RFC 3339 time with its zone.")
    return found.astimezone(UTC)


def number(request: Request, name: str) -> int:
    """A whole number from 0; 0 when missing."""
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise InvalidQuery(name, "A whole number from 0.")
    return int(text)


def idempotency_key(request: Request) -> str | None:
    """The Idempotency-Key header: up to 255 visible characters."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not (1 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        raise InvalidQuery("Idempotency-Key", "1 to 255 printable ASCII characters.", place="header")
    return key


def boolean(request: Request, name: str) -> bool | None:
    """`true` or `false`."""
    text = word(request, name, frozenset({"true", "false"}))
    return None if text is None else text == "true"
