"""What the REST door itself refuses, before or beside any operation."""

from agentops.domain_error import DomainError


class InvalidBody(DomainError):
    """The request is not valid."""

    code = "invalid_request"

    def __init__(self, errors: list[dict[str, str]]) -> None:
        first = errors[0] if errors else {"pointer": "", "detail": ""}
        super().__init__(f"{first['pointer'] or 'The body'}: {first['detail']}", errors=errors)


class InvalidQuery(DomainError):
    """The query is not valid."""

    code = "invalid_request"

    def __init__(self, parameter: str, detail: str, place: str = "query") -> None:
        fault = {"pointer": f"/{parameter}", "in": place, "detail": detail}
        super().__init__(f"{parameter}: {detail}", errors=[fault])


class NotFound(DomainError):
    """There is nothing at this address."""

    code = "not_found"


class MethodNotAllowed(DomainError):
    """This address does not answer to this method."""

    code = "method_not_allowed"


class PayloadTooLarge(DomainError):
    """A body has at most 4 MiB."""

    code = "payload_too_large"


class UnsupportedMediaType(DomainError):
    """A body is sent as application/json."""

    code = "unsupported_media_type"


class NotAuthenticated(DomainError):
    """An API key is needed: Authorization: Bearer <key>."""

    code = "not_authenticated"


class TooManyRequests(DomainError):
    """Too many requests; wait a moment."""

    code = "too_many_requests"


class InternalFault(DomainError):
    """Something went wrong here; it was recorded."""

    code = "internal_error"
