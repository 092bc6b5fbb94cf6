"""What a token can be for (RFC 8707): the MCP door, one run's MCP address, or the REST API of this very host."""

import re
from urllib.parse import urlsplit
from uuid import UUID

_RUN = re.compile(r"/mcp/r/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\Z")
MCP = "/mcp"
REST = "/api/v1"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


def is_resource(path: str) -> bool:
    """Whether something at this path asks for tokens."""
    return path in {MCP, REST} or _RUN.match(path) is not None


def run_of(resource: str) -> UUID | None:
    """The run that a resource is the address of."""
    found = _RUN.match(urlsplit(resource).path)
    return UUID(found[1]) if found else None


def metadata_url(resource: str) -> str:
    """Where the resource describes itself: the well-known part goes between host and path (RFC 9728, 3.1)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}"
