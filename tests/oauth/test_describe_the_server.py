"""The documents that clients find us by, against the fields that their RFCs list."""

import httpx2
import pytest

from agentops.oauth.bearer import challenge
from agentops.oauth.resources import metadata_url
from tests.served import Served


def test_the_authorization_server_describes_itself_as_rfc_8414_wants(http: httpx2.Client, served: Served) -> None:
    answer = http.get("/.well-known/oauth-authorization-server")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == {
        "issuer": served.url,
        "authorization_endpoint": f"{served.url}/oauth/authorize",
        "token_endpoint": f"{served.url}/oauth/token",
        "revocation_endpoint": f"{served.url}/oauth/revocation",
        "registration_endpoint": f"{served.url}/oauth/registration",
        "scopes_supported": ["runs:on_behalf", "runs:read", "runs:write"],
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


@pytest.mark.parametrize("path", ["/mcp", "/mcp/r/01890a5d-ac96-774b-bcce-b302099a8057", "/api/v1"])
def test_each_resource_describes_itself_at_its_own_address_as_rfc_9728_wants(
    http: httpx2.Client, served: Served, path: str
) -> None:
    assert metadata_url(served.url + path) == f"{served.url}/.well-known/oauth-protected-resource{path}"
    answer = http.get(metadata_url(served.url + path))
    assert answer.json() == {
        "resource": served.url + path,
        "authorization_servers": [served.url],
        "scopes_supported": ["runs:read", "runs:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "AgentOps",
    }


def test_without_a_path_the_mcp_door_is_described(http: httpx2.Client, served: Served) -> None:
    answer = http.get("/.well-known/oauth-protected-resource")
    assert answer.json()["resource"] == f"{served.url}/mcp"


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource/admin",
        "/.well-known/oauth-protected-resource/mcp/r/none",
        "/.well-known/oauth-authorization-server/somebody",
        "/.well-known/openid-configuration",
        "/oauth/introspect",
        "/oauth/applications/",
    ],
)
def test_nothing_else_is_published(http: httpx2.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_a_challenge_says_what_is_wanted_and_where_to_read_on() -> None:
    assert challenge("https://ops.example/mcp", error="insufficient_scope", scope="runs:write ledger:write") == (
        'Bearer realm="agentops", error="insufficient_scope", scope="runs:write ledger:write", '
        'resource_metadata="https://ops.example/.well-known/oauth-protected-resource/mcp"'
    )


def test_a_call_without_a_token_is_told_where_to_read_on(http: httpx2.Client, served: Served) -> None:
    answer = http.get("/api/v1/runs")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == challenge(f"{served.url}/api/v1")
