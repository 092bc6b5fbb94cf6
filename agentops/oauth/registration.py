"""Dynamic client registration (RFC 7591): anybody may introduce a public client, within bounds; a person allows it.

The library's view takes every kind of client, of any size and as many as come; this one takes what an MCP client is.
"""

import time
from datetime import timedelta
from typing import Annotated, Any

from django.conf import settings
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from oauth2_provider.models import Application
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from agentops.oauth.redirects import is_safe_redirect

MAX_BYTES = 16 * 1024
MAX_NAME = 100
MAX_REDIRECTS = 10
"""What a client may say of itself, whichever way it is known."""
AN_HOUR = timedelta(hours=1)
FROM_ONE_ADDRESS = 200
FROM_ALL = 1000


def _checked(uri: str) -> str:
    if not is_safe_redirect(uri):
        raise ValueError("a redirect address is https, or http on a loopback host, without fragment or user name")
    return uri


class Introduced(BaseModel):
    """What a client may say of itself; the rest of RFC 7591 is not asked for and not kept."""

    redirect_uris: list[Annotated[str, AfterValidator(_checked)]] = Field(min_length=1, max_length=MAX_REDIRECTS)
    client_name: Annotated[str, StringConstraints(max_length=MAX_NAME, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    grant_types: list[str] = Field(default=["authorization_code"], max_length=10)
    response_types: list[str] = Field(default=["code"], max_length=10)


@csrf_exempt
@require_POST
def registration(request: HttpRequest) -> HttpResponse:
    """Make the client known. Whatever way to authenticate it asks for, it is public: PKCE is what proves it."""
    if not settings.OAUTH2_PROVIDER["DCR_ENABLED"]:
        raise Http404
    if len(request.body) > MAX_BYTES:
        return _refused("invalid_client_metadata", f"At most {MAX_BYTES} bytes.", status=413)
    try:
        said = Introduced.model_validate_json(request.body)
    except ValidationError as error:
        fault = error.errors()[0]
        code = "invalid_redirect_uri" if fault["loc"][:1] == ("redirect_uris",) else "invalid_client_metadata"
        return _refused(code, f"{'/'.join(map(str, fault['loc']))}: {fault['msg']}"[:300])
    if "authorization_code" not in said.grant_types or said.response_types != ["code"]:
        return _refused("invalid_client_metadata", "Only the authorization code grant is offered.")
    if _too_many(request):
        return _refused("temporarily_unavailable", "Too many registrations; come back in an hour.", status=429)
    return JsonResponse(_made(said), status=201, headers={"Cache-Control": "no-store"})


def _made(said: Introduced) -> dict[str, Any]:
    client = Application.objects.create(
        name=said.client_name,
        redirect_uris=" ".join(said.redirect_uris),
        client_type=Application.CLIENT_PUBLIC,
        # A public client has no secret; hashing one slowly would be work that anybody can order.
        client_secret="",
        hash_client_secret=False,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        registration_source=Application.RegistrationSource.DCR,
    )
    return {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.name,
        "redirect_uris": said.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def _too_many(request: HttpRequest) -> bool:
    """Per address in this process, and over all addresses and processes by what is in the database."""
    counter = f"oauth:registrations:{_address(request)}:{int(time.time() // AN_HOUR.total_seconds())}"
    cache.add(counter, 0, AN_HOUR.total_seconds())
    recent = Application.objects.filter(
        registration_source=Application.RegistrationSource.DCR, created__gt=timezone.now() - AN_HOUR
    )
    return cache.incr(counter) > FROM_ONE_ADDRESS or recent.count() >= FROM_ALL


def _address(request: HttpRequest) -> str:
    """The client's, as far as it can be believed: what a trusted proxy added last, else the connection's."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.SECURE_PROXY_SSL_HEADER else ""
    return forwarded.rpartition(",")[2].strip() or request.META["REMOTE_ADDR"]


def _refused(error: str, description: str, *, status: int = 400) -> HttpResponse:
    headers = {"Cache-Control": "no-store", **({"Retry-After": "3600"} if status == 429 else {})}
    return JsonResponse({"error": error, "error_description": description}, status=status, headers=headers)
