"""`Authorization: Bearer <api key or access token>`, and nothing else: no session, no query parameter."""

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agentops.api.errors import NotAuthenticated
from agentops.oauth.bearer import holder_of
from agentops.oauth.redirects import issuer
from agentops.oauth.resources import REST
from agentops.tenancy.access import authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.raw_key import split


class BearerAuthentication(BaseAuthentication):
    """Makes the bearer's Actor the request's user. Raises KeyRejected; without a bearer nobody is authenticated."""

    def authenticate(self, request: Request) -> tuple[Actor, None]:
        return bearer(raw_key(request), resource_of(request)), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def raw_key(request: Request) -> str:
    """The key or token that the request carries. Raises NotAuthenticated."""
    scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not raw.strip():
        raise NotAuthenticated
    return raw.strip()


def bearer(raw: str, resource: str) -> Actor:
    """Who holds this key, or this token for `resource`. Raises KeyRejected."""
    holder = None if any(split(raw)) else holder_of(raw, resource, door="api")
    return holder.actor if holder else authenticate_key(raw, door="api")


def resource_of(request: Request | HttpRequest) -> str:
    """What tokens for REST name as their audience."""
    return issuer(request) + REST
