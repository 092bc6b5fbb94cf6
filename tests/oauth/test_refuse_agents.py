"""Each gate of the authorization server: what is missing, wrong, used twice, too late or somebody else's."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from agentops.oauth.models import sha256
from tests.cast import Cast
from tests.oauth.party import REDIRECT, Outside, Visit, let_in, told


@pytest.mark.parametrize(
    ("leave", "other", "error"),
    [
        ("code_challenge", {}, "invalid_request"),
        ("code_challenge_method", {}, "invalid_request"),
        ("", {"code_challenge_method": "plain"}, "invalid_request"),
        ("", {"code_challenge": "too-short"}, "invalid_request"),
        ("", {"code_challenge": "x" * 200}, "invalid_request"),
        ("", {"response_type": "token"}, "unauthorized_client"),
        ("", {"scope": "runs:read <script>"}, "invalid_scope"),
        ("", {"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ("", {"resource": ["{base}/mcp", "{base}/api/v1"]}, "invalid_target"),
        ("", {"resource": "{base}/admin/"}, "invalid_target"),
        ("", {"resource": "{base}/mcp/r/not-a-run"}, "invalid_target"),
        ("", {"resource": "{base}/mcp?x=1"}, "invalid_target"),
        ("", {"resource": "http://["}, "invalid_target"),
    ],
)
def test_a_request_that_misses_a_rule_is_told_so_at_the_clients_address(
    agent: Outside, cast: Cast, leave: str, other: dict[str, str | list[str]], error: str
) -> None:
    placed = {
        name: [v.format(base=agent.base) for v in value] if isinstance(value, list) else value.format(base=agent.base)
        for name, value in other.items()
    }
    answer = told(Visit(agent.base, cast.alice).open(agent.address(leave, **placed)))
    assert (answer["error"], answer["state"], answer["iss"]) == (error, agent.state, agent.base)
    assert "code" not in answer


def test_a_fault_leads_nobody_to_an_address_that_anybody_may_have_introduced(agent: Outside, cast: Cast) -> None:
    elsewhere = "https://evil.example/callback"
    agent.id = agent.http.post("/oauth/registration", json={"redirect_uris": [elsewhere]}).json()["client_id"]
    visit = Visit(agent.base, cast.alice)
    for leave, other in (("code_challenge", {}), ("", {"scope": "<"}), ("", {"response_type": "token"})):
        answer = visit.open(agent.address(leave, redirect_uri=elsewhere, **other))
        assert (answer.status_code, "This cannot be asked" in answer.text) == (400, True)
    denied = visit.answer(agent.address(redirect_uri=elsewhere), button="deny")
    assert denied.headers["Location"].startswith(f"{elsewhere}?error=access_denied")


@pytest.mark.parametrize(
    "other",
    [
        {"client_id": "nobody"},
        {"redirect_uri": "http://127.0.0.1:7777/other"},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": f"{REDIRECT}?more=1"},
        {"redirect_uri": "http://localhost:7777/callback"},
    ],
)
def test_an_unknown_client_or_address_sends_nobody_anywhere(agent: Outside, cast: Cast, other: dict[str, str]) -> None:
    answer = Visit(agent.base, cast.alice).open(agent.address(**other))
    assert answer.status_code == 400
    assert "Location" not in answer.headers
    assert "This cannot be asked" in answer.text


def test_a_program_on_this_machine_may_listen_on_any_port(agent: Outside, cast: Cast) -> None:
    asked = agent.address(redirect_uri="http://127.0.0.1:51234/callback")
    assert Visit(agent.base, cast.alice).open(asked).status_code == 200


def test_an_address_that_an_operator_entered_unsafely_is_refused_too(agent: Outside, cast: Cast) -> None:
    Application.objects.filter(client_id=agent.id).update(redirect_uris="http://intranet.example/callback")
    answer = Visit(agent.base, cast.alice).open(agent.address(redirect_uri="http://intranet.example/callback"))
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("other", "status", "error"),
    [
        ({"code_verifier": ""}, 400, "invalid_request"),
        ({"code_verifier": "x" * 64}, 400, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:7777/other"}, 400, "invalid_request"),
        ({"resource": "https://elsewhere.example/mcp"}, 400, "invalid_target"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, 400, "unsupported_grant_type"),
        ({"client_secret": "guessed"}, 401, "invalid_client"),
    ],
)
def test_a_code_is_worth_nothing_to_who_cannot_prove_it(
    agent: Outside, cast: Cast, other: dict[str, str], status: int, error: str
) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address()))["code"]
    answer = agent.exchange(code, **other)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert "access_token" not in answer.text


def test_a_code_is_for_the_client_that_asked(agent: Outside, another: Callable[..., Outside], cast: Cast) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address()))["code"]
    thief = another(name="Thief")
    thief.verifier = agent.verifier
    assert thief.exchange(code).json()["error"] == "invalid_grant"
    assert agent.exchange(code).status_code == 200


def test_a_code_that_is_too_old_is_refused(agent: Outside, cast: Cast) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address()))["code"]
    Grant.objects.filter(code=code).update(expires=timezone.now())
    assert agent.exchange(code).json()["error"] == "invalid_grant"


def test_a_code_used_twice_ends_what_came_of_it(agent: Outside, cast: Cast) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address()))["code"]
    tokens = agent.exchange(code).json()
    assert agent.exchange(code).json()["error"] == "invalid_grant"
    assert agent.call(tokens["access_token"]).status_code == 401
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refresh_token_used_twice_ends_its_family(agent: Outside, cast: Cast) -> None:
    first = let_in(agent, cast.alice)
    second = agent.refresh(first["refresh_token"]).json()
    assert agent.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert agent.call(second["access_token"]).status_code == 401
    assert agent.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_family_that_ends_leaves_the_persons_other_machine_signed_in(agent: Outside, cast: Cast) -> None:
    laptop, desktop = let_in(agent, cast.alice), let_in(agent, cast.alice)
    agent.refresh(laptop["refresh_token"])
    agent.refresh(laptop["refresh_token"])
    assert agent.call(desktop["access_token"]).status_code == 200


def test_a_refresh_gives_no_more_than_there_was(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice, scope="runs:read")
    wider = agent.refresh(tokens["refresh_token"], scope="runs:read runs:write")
    assert wider.json()["error"] == "invalid_scope"
    elsewhere = agent.refresh(tokens["refresh_token"], resource=f"{agent.base}/mcp")
    assert elsewhere.json()["error"] == "invalid_target"


def test_a_refresh_token_is_for_its_client_and_for_thirty_days(
    agent: Outside, another: Callable[..., Outside], cast: Cast
) -> None:
    tokens = let_in(agent, cast.alice)
    assert another(name="Thief").refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    long_ago = timezone.now() - timedelta(days=31)
    AccessToken.objects.filter(token_checksum=sha256(tokens["access_token"])).update(expires=long_ago)
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_token_for_one_resource_opens_no_other(another: Callable[..., Outside], cast: Cast) -> None:
    for_mcp = another(resource="/mcp")
    tokens = let_in(for_mcp, cast.alice)
    refused = for_mcp.call(tokens["access_token"])
    assert refused.status_code == 401
    where = f'resource_metadata="{for_mcp.base}/.well-known/oauth-protected-resource/api/v1"'
    assert where in refused.headers["WWW-Authenticate"]


def test_a_client_that_names_no_resource_gets_a_token_for_the_mcp_door_alone(agent: Outside, cast: Cast) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address("resource")))["code"]
    tokens = agent.exchange(code, resource="").json()
    assert AccessToken.objects.get(token_checksum=sha256(tokens["access_token"])).resource == [f"{agent.base}/mcp"]
    assert agent.call(tokens["access_token"]).status_code == 401


def test_an_expired_token_is_refused(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    AccessToken.objects.filter(token_checksum=sha256(tokens["access_token"])).update(expires=timezone.now())
    assert agent.call(tokens["access_token"]).status_code == 401


def test_a_token_in_the_address_is_no_token(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    assert agent.http.get(f"/api/v1/runs?access_token={tokens['access_token']}").status_code == 401


def test_a_client_that_signs_out_ends_its_tokens_and_nobody_elses(
    agent: Outside, another: Callable[..., Outside], cast: Cast
) -> None:
    tokens = let_in(agent, cast.alice)
    thief = another(name="Thief")
    for _ in range(2):
        spared = thief.http.post("/oauth/revocation", data={"token": tokens["refresh_token"], "client_id": thief.id})
        assert spared.status_code == 200
    assert agent.call(tokens["access_token"]).status_code == 200
    done = agent.http.post("/oauth/revocation", data={"token": tokens["access_token"], "client_id": agent.id})
    assert done.status_code == 200
    assert agent.call(tokens["access_token"]).status_code == 401
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert not RefreshToken.objects.filter(token_checksum=sha256(tokens["refresh_token"]), revoked=None).exists()


def test_an_address_that_cannot_be_decoded_is_refused_like_any_other(agent: Outside, cast: Cast) -> None:
    for broken in ("client_id=%zz", "client_id=%00", "client_id=a%0d%0ab", "client_id=x&client_id=y", "é=1", ""):
        page = Visit(agent.base, cast.alice).open(f"/oauth/authorize?{broken}")
        assert (page.status_code, "This cannot be asked" in page.text) == (400, True)
    # Revoking what is no token is no fault (RFC 7009).
    for path, status in (("/oauth/token", 400), ("/oauth/revocation", 200)):
        given = {"grant_type": "refresh_token", "refresh_token": "a\0b", "token": "a\0b", "client_id": agent.id}
        assert agent.http.post(f"{path}?x=%zz", data=given).json()["error"] == "invalid_request"
        assert agent.http.post(path, data=given).status_code == status
        assert agent.http.post(path, data={**given, "client_id": "a\0b"}).status_code == 401
