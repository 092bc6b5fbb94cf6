"""Reading a request's JSON exactly: numbers as written, faults named by their place, sizes bounded."""

from typing import Any, Final

from django.http import HttpRequest
from pydantic import BaseModel, ValidationError
from rest_framework.request import Request

from agentops.api.errors import InvalidBody, PayloadTooLarge, UnsupportedMediaType
from agentops.api.faults import faults_of
from tools.domain.canonical import Json, parse

MAX_BODY: Final = 4 * 1024 * 1024
MAX_DRAINED: Final = 32 * 1024 * 1024
_CHUNK: Final = 64 * 1024


def read_model[ModelT: BaseModel](request: Request, model: type[ModelT], *, optional: bool = False) -> ModelT:
    """The body as `model`. Where the body is optional, none at all stands for an empty object."""
    raw = read_raw(request)
    return checked(model, {} if optional and not raw else parse(raw))


def read_raw(request: Request) -> bytes:
    """The body's bytes, after its type and size were looked at."""
    source = request._request
    if _declared_size(source) > MAX_BODY:
        _drain(source)
        raise PayloadTooLarge
    raw = source.read(MAX_BODY + 1)
    if len(raw) > MAX_BODY:
        _drain(source)
        raise PayloadTooLarge
    if (raw or source.content_type) and source.content_type != "application/json":
        raise UnsupportedMediaType
    return raw


def checked[ModelT: BaseModel](model: type[ModelT], value: Json) -> ModelT:
    """`value` as `model`, or InvalidBody with a pointer for each fault."""
    if not isinstance(value, dict):
        raise InvalidBody([{"pointer": "", "detail": "A JSON object is needed here."}])
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidBody(faults_of(error, value)) from None


def _declared_size(source: HttpRequest) -> int:
    declared: Any = source.META.get("CONTENT_LENGTH") or 0
    return int(declared) if str(declared).isdecimal() else 0


def _drain(source: HttpRequest) -> None:
    """Reads on, within reason: a client that is still sending would not read the answer."""
    left = MAX_DRAINED
    while left > 0 and (chunk := source.read(_CHUNK)):
        left -= len(chunk)
