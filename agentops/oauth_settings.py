"""What django-oauth-toolkit is told: every gate of RFC 9700 on, one grant, short tokens that are kept as hashes."""

from typing import Any

_GATES = (
    "IMPLICIT_GRANT",
    "PASSWORD_GRANT",
    "PKCE_METHOD",
    "PKCE_REQUIRED",
    "ACCESS_TOKEN_TRANSPORT",
    "AUTHZ_RESPONSE_ISS",
    "TOKEN_STORAGE",
    "REFRESH_TOKEN",
    "REDIRECT_URI_MATCHING",
)


def oauth_settings(*, registration: bool) -> dict[str, Any]:
    """The value of OAUTH2_PROVIDER. `registration`: whether clients unknown so far may introduce themselves."""
    return {
        **{f"COMPLIANT_BCP_RFC9700_{gate}": True for gate in _GATES},
        "OAUTH2_VALIDATOR_CLASS": "agentops.oauth.validator.Validator",
        "SCOPES_BACKEND_CLASS": "agentops.oauth.scopes.Scopes",
        "SCOPES": {"runs:read": "", "runs:write": ""},
        "PKCE_REQUIRED": True,
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
        "ACCESS_TOKEN_EXPIRE_SECONDS": 900,
        "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 86_400,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        # http is for loopback alone: `agentops.oauth.redirects` says so for every client.
        "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"],
        "ALLOW_LOCALHOST_LOOPBACK": True,
        "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
        "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": ["none"],
        "OAUTH2_PROTECTED_RESOURCE_NAME": "AgentOps",
        "DCR_ENABLED": registration,
        "CIMD_ENABLED": registration,
        "CIMD_METADATA_FETCHER": "agentops.oauth.client_documents.GuardedFetcher",
        "CIMD_REGISTRATION_PERMISSION_CLASSES": ["agentops.oauth.client_documents.WhileAPersonAsks"],
    }
