"""What a person let in ends with them: taken back, removed, narrowed, suspended."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from agentops.oauth.models import TokenFamily
from agentops.oauth.tidying import tidy
from agentops.tenancy.access import rights_now
from agentops.tenancy.agents import agents_allowed, allow_agent
from agentops.tenancy.changes import verify_changes
from agentops.tenancy.errors import PeopleOnlyScope, ScopeNotGrantable
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import ApiKey, Change, Tenant
from agentops.tenancy.scopes import APPROVER
from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast
from tests.oauth.party import Outside, Visit, let_in, told

type End = Callable[[Cast], None]


def removed(cast: Cast) -> None:
    remove_member(cast.carol.actor, user_id=cast.alice.user.id)


def deactivated(cast: Cast) -> None:
    cast.alice.user.is_active = False
    cast.alice.user.save(update_fields=["is_active"])


def suspended(cast: Cast) -> None:
    Tenant.objects.filter(id=cast.tenant.id).update(status=Tenant.SUSPENDED)


@pytest.mark.parametrize("end", [removed, deactivated, suspended])
def test_tokens_end_with_the_membership(agent: Outside, cast: Cast, end: End) -> None:
    tokens = let_in(agent, cast.alice)
    key = ApiKey.objects.get(client=agent.id)
    assert rights_now(cast.tenant.id, f"oauth:{key.id}", key.id).alive
    end(cast)
    assert agent.call(tokens["access_token"]).status_code == 401
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert not rights_now(cast.tenant.id, f"oauth:{key.id}", key.id).alive


def test_a_code_ends_with_the_membership_too(agent: Outside, cast: Cast) -> None:
    code = told(Visit(agent.base, cast.alice).answer(agent.address()))["code"]
    remove_member(cast.carol.actor, user_id=cast.alice.user.id)
    assert agent.exchange(code).json()["error"] == "invalid_grant"


def test_a_role_that_is_taken_narrows_what_the_agent_may_at_once(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice, scope="runs:write")
    body = {"agent": "no-such-agent", "task": "x"}
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert agent.http.post("/api/v1/runs", json=body, headers=headers).status_code == 400
    set_roles(cast.carol.actor, user_id=cast.alice.user.id, roles=[APPROVER])
    refused = agent.http.post("/api/v1/runs", json=body, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


def test_a_person_sees_and_ends_what_they_let_in(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    agent.call(tokens["access_token"])
    visit = Visit(agent.base, cast.alice)
    page = visit.open("/settings/agents").text
    key = ApiKey.objects.get(client=agent.id)
    for part in ("Claude Code", "runs:read runs:write", "End this agent's access?", "last used"):
        assert part in page.replace("&#x27;", "'")
    assert end_over_http(visit, page, key.id) == 302
    assert agent.call(tokens["access_token"]).status_code == 401
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert "Claude Code" not in visit.open("/settings/agents").text


def test_an_owner_sees_the_teams_and_a_member_their_own(agent: Outside, cast: Cast) -> None:
    let_in(agent, cast.alice)
    key = ApiKey.objects.get(client=agent.id)
    assert "Claude Code" not in Visit(agent.base, cast.bob).open("/settings/agents").text
    owner = Visit(agent.base, cast.carol)
    page = owner.open("/settings/agents").text
    assert cast.alice.user.email in page
    bob = Visit(agent.base, cast.bob)
    assert end_over_http(bob, bob.open("/settings/keys").text, key.id) == 404
    assert end_over_http(owner, page, key.id) == 302
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_nobody_elses_team_is_seen_or_ended(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    key = ApiKey.objects.get(client=agent.id)
    mallory = Visit(agent.base, cast.mallory)
    page = mallory.open("/settings/agents").text
    assert "Claude Code" not in page
    assert end_over_http(mallory, mallory.open("/settings/keys").text, key.id) == 404
    assert agents_allowed(cast.mallory.actor) == []
    assert agent.call(tokens["access_token"]).status_code == 200


def test_a_key_of_an_agent_is_no_api_key_and_not_among_them(agent: Outside, cast: Cast) -> None:
    let_in(agent, cast.alice)
    key = ApiKey.objects.get(client=agent.id)
    assert key.prefix not in Visit(agent.base, cast.alice).open("/settings/keys").text
    assert agent.call(f"ao_{key.prefix}_x").status_code == 401
    assert agent.call(key.prefix).status_code == 401


def test_agents_are_let_in_by_people_alone_with_what_they_have_and_never_to_decide(cast: Cast) -> None:
    with pytest.raises(ScopeNotGrantable):
        allow_agent(cast.alice.key_actor, client="c", name="c", scopes=["runs:read"])
    with pytest.raises(ScopeNotGrantable):
        allow_agent(cast.bob.actor, client="c", name="c", scopes=["runs:write"])
    with pytest.raises(PeopleOnlyScope):
        allow_agent(cast.alice.actor, client="c", name="c", scopes=["approvals:decide"])


def test_who_let_what_in_and_ended_it_is_in_the_teams_log(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    agent.refresh(tokens["refresh_token"])
    agent.refresh(tokens["refresh_token"])
    with tenant_transaction(cast.tenant.id):
        kinds = list(Change.objects.filter(tenant_id=cast.tenant.id).order_by("seq").values_list("kind", "actor"))
        assert verify_changes(cast.tenant.id).first_bad is None
    assert kinds[-2:] == [
        ("agent.allowed", cast.alice.user.email),
        ("key.revoked", "agentops: a refresh token was used twice"),
    ]


def test_an_agent_that_fell_silent_is_no_longer_listed_and_its_rows_go(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    key = ApiKey.objects.get(client=agent.id)
    family = TokenFamily.objects.get(key=key)
    tidy()
    assert agent.call(tokens["access_token"]).status_code == 200
    long_ago = timezone.now() - timedelta(days=40)
    AccessToken.objects.filter(application__client_id=agent.id).update(expires=long_ago)
    TokenFamily.objects.filter(id=family.id).update(created_at=long_ago)
    ApiKey.objects.filter(id=key.id).update(created_at=long_ago)
    Application.objects.filter(client_id=agent.id).update(updated=long_ago)
    tidy()
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert not RefreshToken.objects.filter(token_family=family.id).exists()
    assert not TokenFamily.objects.filter(id=family.id).exists()
    assert not Application.objects.filter(client_id=agent.id).exists()


def test_the_librarys_own_rows_are_in_nobodys_administration(agent: Outside, cast: Cast) -> None:
    let_in(agent, cast.carol)
    owner = Visit(agent.base, cast.carol)
    assert "oauth2_provider" not in owner.open("/admin/").text
    assert owner.open("/admin/oauth2_provider/accesstoken/").status_code == 404
    assert "Claude Code" in owner.open("/admin/tenancy/apikey/").text


def end_over_http(visit: Visit, page: str, key_id: UUID) -> int:
    """The form behind the button, posted."""
    return visit.post(page, f"/settings/agents/{key_id}/revocation").status_code
