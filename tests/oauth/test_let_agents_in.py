"""A person lets an outside agent act for them in one team, and it gets no more than that."""

from collections.abc import Callable

import pytest
from django.db import connection

from agentops.oauth.bearer import holder_of
from agentops.tenancy.models import ApiKey, Membership
from agentops.tenancy.scopes import OPERATOR, VIEWER
from tests.cast import Cast
from tests.oauth.party import Outside, Visit, let_in, offered, text, ticked, told
from tests.web.scene import Scene, build


@pytest.fixture
def scene(cast: Cast) -> Scene:
    """An office with tools."""
    return build(cast)


def test_an_allowed_agent_calls_with_its_token_and_comes_back_with_the_next(agent: Outside, cast: Cast) -> None:
    answer = told(Visit(agent.base, cast.alice).answer(agent.address()))
    assert (answer["state"], answer["iss"]) == (agent.state, agent.base)
    got = agent.exchange(answer["code"])
    tokens = got.json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 900, "runs:read runs:write")
    assert got.headers["Cache-Control"] == "no-store"
    assert agent.call(tokens["access_token"]).status_code == 200
    following = agent.refresh(tokens["refresh_token"]).json()
    assert agent.call(following["access_token"]).status_code == 200
    assert agent.call(tokens["access_token"]).status_code == 401


def test_the_agent_is_a_principal_of_its_own_and_its_person_counts_as_the_one_who_asked(
    agent: Outside, cast: Cast
) -> None:
    tokens = let_in(agent, cast.alice)
    holder = holder_of(tokens["access_token"], agent.resource, door="api")
    assert holder is not None
    actor = holder.actor
    assert (actor.kind, actor.tenant_id, actor.is_person) == ("oauth", cast.tenant.id, False)
    assert actor.principal == f"oauth:{actor.key_id}"
    assert actor.answerable == {cast.alice.user.id}
    assert actor.roles == frozenset()


def test_no_token_and_no_secret_is_kept_as_it_is(agent: Outside, cast: Cast) -> None:
    tokens = let_in(agent, cast.alice)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(t::text, '') FROM (SELECT a::text t FROM oauth2_provider_accesstoken a"
            " UNION ALL SELECT r::text FROM oauth2_provider_refreshtoken r"
            " UNION ALL SELECT k::text FROM tenancy_apikey k UNION ALL SELECT f::text FROM oauth_tokenfamily f) every"
        )
        (kept,) = cursor.fetchone()
    assert tokens["access_token"] not in kept
    assert tokens["refresh_token"] not in kept


def test_the_page_names_the_client_its_address_the_team_and_what_will_happen(scene: Scene, agent: Outside) -> None:
    page = Visit(agent.base, scene.cast.alice).open(agent.address())
    seen = text(page.text)
    for part in (
        "Claude Code", "It gave this name itself", "http://127.0.0.1:7777/callback", "a program on this computer",
        scene.cast.tenant.name, scene.cast.alice.user.email, "It can never approve", "Pay an invoice destructive",
    ):  # fmt: skip
        assert part in seen
    policy = page.headers["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:7777;" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self'" in policy
    assert (page.headers["X-Frame-Options"], page.headers["Cache-Control"]) == ("DENY", "no-store")


def test_who_is_not_signed_in_signs_in_first_and_comes_back(agent: Outside) -> None:
    answer = agent.http.get(agent.address())
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/account/login/?next=/oauth/authorize")


def test_a_form_from_elsewhere_allows_nothing(agent: Outside, cast: Cast) -> None:
    answer = Visit(agent.base, cast.alice).http.post(agent.address(), data={"allow": "yes", "give": ["runs:read"]})
    assert answer.status_code == 403
    assert not ApiKey.objects.filter(client=agent.id).exists()


def test_who_denies_says_so_to_the_client_and_lets_nobody_in(agent: Outside, cast: Cast) -> None:
    answer = told(Visit(agent.base, cast.alice).answer(agent.address(), button="deny"))
    assert answer == {"error": "access_denied", "state": agent.state, "iss": agent.base}
    assert not ApiKey.objects.filter(client=agent.id).exists()


def test_reads_are_ticked_and_changes_are_not_unless_they_were_asked_for(scene: Scene, agent: Outside) -> None:
    visit = Visit(agent.base, scene.cast.alice)
    assert ticked(visit.open(agent.address()).text) == ["runs:read", "runs:write", "ledger:read"]
    asked = agent.address(scope="runs:read ledger:write")
    assert ticked(visit.open(asked).text) == ["runs:read", "ledger:write"]
    assert "ledger:read" in offered(visit.open(asked).text)


def test_a_scope_that_the_person_lacks_or_that_decides_is_never_given(scene: Scene, agent: Outside) -> None:
    asked = agent.address(scope="runs:read runs:write approvals:decide tools:write ledger:write moon:land")
    everything = ["runs:read", "runs:write", "approvals:decide", "tools:write", "ledger:write", "moon:land", "*"]
    code = told(Visit(agent.base, scene.cast.bob).answer(asked, give=everything))["code"]
    assert agent.exchange(code).json()["scope"] == "runs:read"
    key = ApiKey.objects.get(client=agent.id)
    assert key.scopes == ["runs:read"]


def test_nothing_ticked_is_no_answer(agent: Outside, cast: Cast) -> None:
    answer = Visit(agent.base, cast.alice).answer(agent.address(), give=[])
    assert answer.status_code == 422
    assert "Tick at least one, or deny." in answer.text


def test_a_person_of_two_teams_chooses_one_and_the_token_is_for_that_alone(agent: Outside, cast: Cast) -> None:
    Membership.objects.create(tenant=cast.other_tenant, user=cast.alice.user, roles=[VIEWER])
    visit = Visit(agent.base, cast.alice)
    elsewhere = agent.address(team=str(cast.other_tenant.id))
    assert offered(visit.open(elsewhere).text) == ["runs:read"]
    tokens = agent.exchange(told(visit.answer(elsewhere))["code"]).json()
    holder = holder_of(tokens["access_token"], agent.resource, door="api")
    assert holder is not None
    assert (holder.actor.tenant_id, holder.actor.scopes) == (cast.other_tenant.id, frozenset({"runs:read"}))


def test_the_team_that_was_shown_is_the_one_that_is_given(agent: Outside, cast: Cast) -> None:
    Membership.objects.create(tenant=cast.other_tenant, user=cast.alice.user, roles=[OPERATOR])
    visit = Visit(agent.base, cast.alice)
    page = visit.open(agent.address()).text
    visit.post(visit.open("/settings").text, "/session/tenant", {"tenant": str(cast.other_tenant.id)})
    assert cast.other_tenant.name in visit.open(agent.address()).text
    assert visit.send(page, agent.address()).status_code == 303
    assert ApiKey.objects.get(client=agent.id).tenant_id == cast.tenant.id
    forged = page.replace(str(cast.tenant.id), "01890a5d-ac96-774b-bcce-b302099a8057")
    assert visit.send(forged, agent.address()).status_code == 200


def test_a_team_that_one_is_not_in_cannot_be_chosen(agent: Outside, cast: Cast) -> None:
    page = Visit(agent.base, cast.alice).open(agent.address(team=str(cast.other_tenant.id)))
    assert cast.tenant.name in page.text
    assert cast.other_tenant.name not in page.text


def test_the_address_of_a_run_is_for_its_own_team(scene: Scene, another: Callable[..., Outside]) -> None:
    run = scene.run()
    agent = another(resource=f"/mcp/r/{run}")
    cast = scene.cast
    Membership.objects.create(tenant=cast.other_tenant, user=cast.alice.user, roles=[OPERATOR])
    page = Visit(agent.base, cast.alice).open(agent.address(team=str(cast.other_tenant.id))).text
    assert cast.tenant.name in page
    assert cast.other_tenant.name not in page
    stranger = Visit(agent.base, cast.mallory).open(agent.address())
    assert "None of your teams has what it asks for." in stranger.text
    assert cast.tenant.name not in stranger.text
    assert offered(stranger.text) == []


def test_letting_the_same_client_in_again_keeps_its_runs_and_replaces_what_it_may(scene: Scene, agent: Outside) -> None:
    first = let_in(agent, scene.cast.alice)
    before = holder_of(first["access_token"], agent.resource, door="api")
    second = let_in(agent, scene.cast.alice, scope="runs:read ledger:write")
    after = holder_of(second["access_token"], agent.resource, door="api")
    assert before is not None
    assert after is not None
    assert before.actor.principal == after.actor.principal
    assert ApiKey.objects.filter(client=agent.id).count() == 1


def test_what_an_agent_is_called_is_shown_letter_by_letter(another: Callable[..., Outside], cast: Cast) -> None:
    agent = another(name="Cl\u202eaude <b>Code</b>")
    page = Visit(agent.base, cast.alice).open(agent.address()).text
    assert "⟦U+202E⟧" in text(page).replace(" ", "") or "U+202E" in page
    assert "<b>Code</b>" not in page
