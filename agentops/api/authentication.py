"""`Authorization: Bearer <api key>`, and nothing else: no session, no query parameter."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agentops.api.errors import NotAuthenticated
from agentops.tenancy.access import authenticate_key
from agentops.tenancy.actor import Actor


class ApiKeyAuthentication(BaseAuthentication):
    """Makes the key's Actor the request's user. Raises KeyRejected; without a key nobody is authenticated."""

    def authenticate(self, request: Request) -> tuple[Actor, None]:
        return authenticate_key(raw_key(request), door="api"), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def raw_key(request: Request) -> str:
    """The key that the request carries. Raises NotAuthenticated."""
    scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not raw.strip():
        raise NotAuthenticated
    return raw.strip()
