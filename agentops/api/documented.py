"""Says in the OpenAPI document what a handler takes, gives and refuses."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel

from agentops.api.documents import Problem

_REFUSALS = {
    400: "The request is not valid; `errors` says where.",
    401: "No valid API key.",
    403: "The key may not do this.",
    404: "There is no such thing in this tenant.",
    409: "It cannot be done in this state; `code` says why.",
    410: "It has expired.",
    413: "The body has more than 4 MiB.",
    415: "The body is not application/json.",
    422: "It is understood and not done; `code` says why.",
    429: "Too soon; try again in a moment.",
}
_QUERY: dict[str, dict[str, Any]] = {
    "cursor": {"type": "string"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
    "after": {"type": "integer", "minimum": 0, "maximum": 999_999_999, "default": 0},
    "created_after": {"type": "string", "format": "date-time"},
    "enabled": {"type": "boolean"},
}
_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    location=OpenApiParameter.HEADER,
    description="The same key with the same body is answered with what the first request made.",
)


def documented[F: Callable[..., Any]](
    status: int,
    description: str,
    *,
    shows: type[BaseModel],
    body: type[BaseModel] | None = None,
    query: Sequence[str] = (),
    words: dict[str, Sequence[str]] | None = None,
    once: bool = False,
    public: bool = False,
) -> Callable[[F], F]:
    """Decorate a handler with its success, its body, its query and the closed `words` of a parameter.

    `once`: it takes an Idempotency-Key, and a repetition is answered with 200. `public`: no key is needed.
    """
    parameters = [OpenApiParameter(name, _QUERY.get(name, {"type": "string"})) for name in query]
    parameters += [OpenApiParameter(name, str, enum=list(values)) for name, values in (words or {}).items()]
    responses: dict[Any, Any] = {
        (code, "application/json"): OpenApiResponse(shows, description) for code in {status, *([200] if once else [])}
    }
    for code, text in _REFUSALS.items():
        responses[code, "application/problem+json"] = OpenApiResponse(Problem, text)
    return extend_schema(
        auth=[{}] if public else None,  # type: ignore[list-item]  # OpenAPI's "no security", which the stubs lack
        parameters=[*parameters, *([_KEY] if once else [])],
        request={"application/json": body} if body else None,
        responses=responses,
    )
