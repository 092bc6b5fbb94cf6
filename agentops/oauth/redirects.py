"""Where an answer may be sent: https, or http on the person's own machine."""

from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse

from tools.domain.egress import Destination, HostRefused, destination

LOOPBACK = frozenset({"127.0.0.1", "[::1]", "localhost"})
MAX_LENGTH = 500


def is_safe_redirect(uri: str) -> bool:
    """Whether a client may name this address as its own."""
    where = _destination(uri)
    return where is not None and (uri.startswith("https://") or where.host in LOOPBACK)


def is_on_this_machine(uri: str) -> bool:
    """Whether the client runs where the person's browser does."""
    where = _destination(uri)
    return where is not None and where.host in LOOPBACK


def form_action_of(uri: str) -> str:
    """What a page's policy must name so that its form may end there; the policy has no word for an IPv6 address."""
    where = destination(uri)
    host = "*" if where.host.startswith("[") else where.host
    return f"{urlsplit(uri).scheme}://{host}:{where.port}"


def refuse(request: HttpRequest, uri: str, *, state: str | None, error: str, description: str = "") -> HttpResponse:
    """Tell the client at its address what went wrong, and who says so (RFC 6749, 4.1.2.1 and RFC 9207)."""
    said = {"error": error, "error_description": description, "state": state, "iss": issuer(request)}
    mark = "&" if "?" in uri else "?"
    return redirected(f"{uri}{mark}{urlencode({name: value for name, value in said.items() if value})}")


def redirected(uri: str) -> HttpResponse:
    """303, so that the browser repeats no body (RFC 9700, 4.12)."""
    return HttpResponse(status=303, headers={"Location": uri, "Cache-Control": "no-store"})


def issuer(request: HttpRequest) -> str:
    """Our name as an authorization server: scheme and host, nothing after it."""
    return request.build_absolute_uri("/").rstrip("/")


def _destination(uri: str) -> Destination | None:
    if len(uri) > MAX_LENGTH or "#" in uri or "*" in uri:
        return None
    try:
        return destination(uri)
    except HostRefused:
        return None
