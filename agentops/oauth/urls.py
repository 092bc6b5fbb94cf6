"""The addresses of the authorization server. The library finds them under its own names."""

from django.urls import path
from oauth2_provider.views import OAuthServerMetadataView

from agentops.oauth.consent import authorize
from agentops.oauth.metadata import ResourceMetadata
from agentops.oauth.registration import registration
from agentops.oauth.tokens import revocation, token

app_name = "oauth2_provider"
urlpatterns = [
    path(".well-known/oauth-authorization-server", OAuthServerMetadataView.as_view(), name="oauth-server-metadata"),
    path(".well-known/oauth-protected-resource", ResourceMetadata.as_view(), name="oauth-resource-metadata"),
    path(".well-known/oauth-protected-resource/<path:resource_path>", ResourceMetadata.as_view(), name="resource"),
    path("oauth/authorize", authorize, name="authorize"),
    path("oauth/token", token, name="token"),
    path("oauth/revocation", revocation, name="revoke-token"),
    path("oauth/registration", registration, name="dcr-register"),
]
