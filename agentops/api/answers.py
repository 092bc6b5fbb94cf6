"""Answers with exact numbers: a Decimal leaves as it is, never as a rounded float."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import singledispatch
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
    if "retry_after" in known.more:
        headers["Retry-After"] = str(known.more["retry_after"])
    return _with(response, {"Cache-Control": "no-store"} | headers)


def _with(response: HttpResponse, headers: Mapping[str, str]) -> HttpResponse:
    for name, value in headers.items():
        response.headers[name] = value
    return response


@singledispatch
def dumped(value: Any) -> str:
    """`value` as JSON text, members in the order they were given; times as RFC 3339 in UTC."""
    return canonical(value)


def rfc3339(moment: datetime) -> str:
    """The moment in UTC with six decimals, as the event chain spells it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


dumped.register(Raw, str)
dumped.register(str, json.dumps)
dumped.register(float, json.dumps)


@dumped.register
def _object(value: Mapping) -> str:  # type: ignore[type-arg]  # the class is registered
    return "{" + ",".join(f"{json.dumps(str(name))}:{dumped(member)}" for name, member in value.items()) + "}"


@dumped.register
def _array(value: list | tuple) -> str:  # type: ignore[type-arg]  # the classes are registered
    return "[" + ",".join(map(dumped, value)) + "]"


@dumped.register
def _moment(value: datetime) -> str:
    return json.dumps(rfc3339(value))


@dumped.register
def _row(value: UUID) -> str:
    return json.dumps(str(value))
