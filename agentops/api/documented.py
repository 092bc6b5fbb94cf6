"""Says in the OpenAPI document what a handler takes and gives."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel

PROBLEM = OpenApiResponse(OpenApiTypes.OBJECT, "RFC 9457 problem: type, title, status, detail, code")


def documented[F: Callable[..., Any]](
    status: int, description: str, *, body: type[BaseModel] | None = None, query: Sequence[str] = ()
) -> Callable[[F], F]:
    """Decorate a handler with its success status, its body model and its query parameters."""
    parameters = [OpenApiParameter(name, OpenApiTypes.STR, OpenApiParameter.QUERY) for name in query]
    schema = {"application/json": body.model_json_schema()} if body else None
    responses: dict[Any, OpenApiResponse] = {status: OpenApiResponse(OpenApiTypes.OBJECT, description)}
    for code in ("400", "401", "403", "404", "409", "410", "413", "415", "422", "429"):
        responses[code, "application/problem+json"] = PROBLEM
    return extend_schema(parameters=parameters, request=schema, responses=responses)
