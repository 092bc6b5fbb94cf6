"""Answers with exact numbers: a Decimal leaves as it is, never as a rounded float."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from agentops.api import errors
from agentops.domain_error import DomainError
from agentops.errors import Problem, problem_of
from tools.domain.canonical import canonical

_STATUS: Mapping[type[DomainError], HTTPStatus] = {
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.MethodNotAllowed: HTTPStatus.METHOD_NOT_ALLOWED,
    errors.PayloadTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    errors.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    errors.InternalFault: HTTPStatus.INTERNAL_SERVER_ERROR,
}


class Raw(str):
    """Text that is JSON already and leaves as it stands: stored canonical text is not read and written again."""

    __slots__ = ()


def answer(body: Any, status: int = HTTPStatus.OK, **headers: str) -> HttpResponse:
    """A JSON answer."""
    response = HttpResponse(dumped(body).encode(), status=status, content_type="application/json")
    return _with(response, headers)


def problem(error: DomainError, **headers: str) -> HttpResponse:
    """A refusal as application/problem+json."""
    known = problem_of(error)
    status = _STATUS.get(type(error), known.status)
    body = Problem(status=status, code=known.code, detail=known.detail, more=known.more).body()
    response = HttpResponse(dumped(body).encode(), status=status, content_type="application/problem+json")
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="agentops"'
    if "retry_after" in known.more:
        headers["Retry-After"] = str(known.more["retry_after"])
    return _with(response, {"Cache-Control": "no-store"} | headers)


def _with(response: HttpResponse, headers: Mapping[str, str]) -> HttpResponse:
    for name, value in headers.items():
        response.headers[name] = value
    return response


def dumped(value: Any) -> str:
    """`value` as JSON text, members in the order they were given; times as RFC 3339 in UTC."""
    write = next((write for kind, write in _WRITERS if isinstance(value, kind)), canonical)
    return write(value)


def rfc3339(moment: datetime) -> str:
    """The moment in UTC with six decimals, as the event chain spells it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _object(value: Mapping[str, Any]) -> str:
    return "{" + ",".join(f"{json.dumps(str(name))}:{dumped(member)}" for name, member in value.items()) + "}"


def _array(value: Iterable[Any]) -> str:
    return "[" + ",".join(dumped(item) for item in value) + "]"


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], str]], ...] = (
    (Raw, str),
    ((str, float), json.dumps),
    (Mapping, _object),
    ((list, tuple), _array),
    (datetime, lambda moment: json.dumps(rfc3339(moment))),
    (UUID, lambda row: json.dumps(str(row))),
)
