"""The token and revocation endpoints: the library's answers, each in one transaction."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from oauth2_provider.oauth2_backends import OAuthLibCore, get_oauthlib_core

from agentops.tenancy.transaction import identity_act

# oauthlib raises ValueError for an address that it cannot decode.
UNREADABLE = "The address of the request cannot be decoded."
GRANTS = frozenset({"authorization_code", "refresh_token"})


@cache
def library() -> OAuthLibCore:
    """oauthlib's server behind the library's rules and ours."""
    return get_oauthlib_core()


@csrf_exempt
@require_POST
def token(request: HttpRequest) -> HttpResponse:
    """A code, or a refresh token, for an access token and the next refresh token."""
    if request.POST.get("grant_type") not in GRANTS:
        return _refused("unsupported_grant_type")
    return _answered(request, library().create_token_response)


@csrf_exempt
@require_POST
def revocation(request: HttpRequest) -> HttpResponse:
    """The client gives its tokens back (RFC 7009)."""
    return _answered(request, library().create_revocation_response)


def _answered(request: HttpRequest, library_says: Callable[[HttpRequest], tuple[Any, ...]]) -> HttpResponse:
    try:
        with identity_act():
            _, headers, body, status = library_says(request)
    except ValueError:
        return _refused("invalid_request", UNREADABLE)
    return HttpResponse(body or "", status=status, headers=headers)


def _refused(error: str, description: str = "") -> HttpResponse:
    told = {"error": error, **({"error_description": description} if description else {})}
    return JsonResponse(told, status=400, headers={"Cache-Control": "no-store"})
