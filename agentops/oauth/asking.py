"""What a client asks a person for: read from the address, checked before anybody is asked or sent anywhere."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.models import Application
from oauthlib.oauth2 import InvalidRequestError, InvalidRequestFatalError, MismatchingRedirectURIError
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from agentops.oauth.redirects import is_safe_redirect, issuer
from agentops.oauth.registration import MAX_NAME
from agentops.oauth.resources import MCP, is_resource
from agentops.oauth.tokens import UNREADABLE, library

_S256 = re.compile(r"[A-Za-z0-9_-]{43}\Z")


@dataclass(frozen=True)
class Asked:
    """An authorization request that can be granted."""

    client: Any
    scopes: list[str]
    resource: str
    credentials: dict[str, Any]

    @property
    def redirect_uri(self) -> str:
        """Where the answer goes; the library found it among the client's."""
        return str(self.credentials["redirect_uri"])

    @property
    def state(self) -> str | None:
        """Given back to the client as it is."""
        state: str | None = self.credentials["state"]
        return state

    @property
    def name(self) -> str:
        """What the client calls itself."""
        return str(self.client.name)[:MAX_NAME] or "An agent without a name"

    @property
    def published_at(self) -> str:
        """The host that publishes the client's description, where it was fetched from there; else empty."""
        is_document = self.client.registration_source == Application.RegistrationSource.CIMD
        return (urlsplit(self.client.client_id).hostname or "") if is_document else ""


def read(request: HttpRequest) -> Asked:
    """Raises FatalClientError when nobody may be sent anywhere, OAuthToolkitError for what the client is told."""
    try:
        scopes, found = library().validate_authorization_request(request)
    except ValueError as error:
        raise FatalClientError(error=InvalidRequestFatalError(UNREADABLE)) from error
    uri, state = found["redirect_uri"], found["state"]
    if not is_safe_redirect(uri):
        raise FatalClientError(error=MismatchingRedirectURIError())
    if found.get("code_challenge_method") != "S256" or not _S256.match(found["code_challenge"]):
        raise OAuthToolkitError(InvalidRequestError("PKCE with S256 is needed.", state=state), redirect_uri=uri)
    resource = _resource(request)
    if resource is None:
        fault = CustomOAuth2Error("invalid_target", "One resource of this server.", state=state)
        raise OAuthToolkitError(fault, redirect_uri=uri)
    names = ("client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method")
    client = Application.objects.get(client_id=found["client_id"])
    return Asked(client, scopes, resource, {**{name: found[name] for name in names}, "resource": [resource]})


def _resource(request: HttpRequest) -> str | None:
    """The one resource that is asked for; clients that name none mean the MCP door."""
    here = issuer(request)
    named = request.GET.getlist("resource") or [here + MCP]
    path = named[0].removeprefix(here)
    return named[0] if named == [here + path] and is_resource(path) else None
