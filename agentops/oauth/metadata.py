"""How clients find us: what each protected resource says of itself (RFC 9728), each at its own address."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from oauth2_provider.views import OAuthProtectedResourceMetadataView

from agentops.oauth.redirects import issuer
from agentops.oauth.resources import MCP, is_resource
from agentops.oauth.scopes import USUAL


class ResourceMetadata(OAuthProtectedResourceMetadataView):  # type: ignore[misc]  # the library has no types
    """Without a path it is the MCP door's, which is what clients look for that know no better."""

    def get(self, request: HttpRequest, *args: Any, resource_path: str = "", **kwargs: Any) -> HttpResponse:
        """The document of `/<resource_path>`; nothing is said of addresses that ask for no token."""
        self.path = f"/{resource_path}" if resource_path else MCP
        if not is_resource(self.path):
            raise Http404
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer

    def get_resource(self, request: HttpRequest) -> str:
        """The address that tokens are for."""
        return issuer(request) + self.path

    def get_scopes_supported(self) -> list[str]:
        """What an agent usually needs; tools have scopes of their own, which the person chooses."""
        return sorted(USUAL)
