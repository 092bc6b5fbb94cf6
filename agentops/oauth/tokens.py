"""The token and revocation endpoints: the library's answers, each in one transaction."""

from functools import cache

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from oauth2_provider.oauth2_backends import OAuthLibCore, get_oauthlib_core

from agentops.tenancy.transaction import identity_act

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
        refusal = {"error": "unsupported_grant_type"}
        return JsonResponse(refusal, status=400, headers={"Cache-Control": "no-store"})
    with identity_act():
        _, headers, body, status = library().create_token_response(request)
    return HttpResponse(body, status=status, headers=headers)


@csrf_exempt
@require_POST
def revocation(request: HttpRequest) -> HttpResponse:
    """The client gives its tokens back (RFC 7009)."""
    with identity_act():
        _, headers, body, status = library().create_revocation_response(request)
    return HttpResponse(body or "", status=status, headers=headers)
