"""An agent that was let in calls over MCP: within its scopes, held for others than its person, cut off at once."""

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from agentops.tenancy.keys import revoke_key
from agentops.tenancy.models import ApiKey
from approvals.domain.errors import SelfApproval
from tests.cast import Cast
from tests.mcp.agent import connected, told
from tests.oauth.party import Outside, let_in
from tests.runs.scenario import Stage, new_stage

EVERYTHING = "runs:read runs:write ledger:read ledger:write"


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """The event loop of the clients."""
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def stage(cast: Cast) -> Stage:
    """A tenant with one external agent."""
    stage = new_stage(cast)
    stage.external()
    return stage


@pytest.fixture
def outside(another: Callable[..., Outside]) -> Outside:
    """An agent that wants in at the MCP door."""
    return another(resource="/mcp")


def test_a_held_call_waits_for_somebody_else_than_the_person_who_let_the_agent_in(
    stage: Stage, outside: Outside, portal: BlockingPortal
) -> None:
    token = let_in(outside, stage.cast.alice, scope=EVERYTHING)["access_token"]
    with connected(portal, outside.resource, token, X_AgentOps_Hold="0") as agent:
        held = agent.call("t_pay_plain", account=stage.account, amount="5")
        said = told(held)
        assert said["status"] == "pending_approval"
        assert held.meta is not None
        run = UUID(held.meta["agentops/run"])
        key = ApiKey.objects.get(client=outside.id)
        assert (stage.run(run).principal, stage.run(run).requesters) == (f"oauth:{key.id}", [stage.cast.alice.user.id])
        with pytest.raises(SelfApproval):
            stage.approve(run, by=stage.cast.alice.actor)
        stage.approve(run)
        stage.work(run)
        assert told(agent.call("approval_wait", approval_id=said["approval_id"]))["done"] == 1


def test_what_was_approved_is_not_sent_for_an_agent_that_was_cut_off_meanwhile(
    stage: Stage, outside: Outside, portal: BlockingPortal
) -> None:
    token = let_in(outside, stage.cast.alice, scope=EVERYTHING)["access_token"]
    with connected(portal, outside.resource, token, X_AgentOps_Hold="0") as agent:
        held = agent.call("t_pay_plain", account=stage.account, amount="5")
    assert held.meta is not None
    run = UUID(held.meta["agentops/run"])
    stage.approve(run)
    revoke_key(stage.cast.alice.actor, key_id=ApiKey.objects.get(client=outside.id).id)
    stage.work(run)
    assert stage.world.paid == []
    assert stage.statuses(run) == ["refused"]


def test_the_door_asks_for_a_token_of_its_own_and_says_which(stage: Stage, outside: Outside) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    refused = outside.http.post("/mcp", json=ask)
    document = f'resource_metadata="{outside.base}/.well-known/oauth-protected-resource/mcp"'
    assert refused.status_code == 401
    assert document in refused.headers["WWW-Authenticate"]
    outside.resource = f"{outside.base}/api/v1"
    token = let_in(outside, stage.cast.alice)["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    elsewhere = outside.http.post("/mcp", json=ask, headers=headers)
    assert elsewhere.status_code == 401
    assert 'error="invalid_token"' in elsewhere.headers["WWW-Authenticate"]


def test_a_call_over_mcp_is_a_use_of_what_the_person_let_in(
    stage: Stage, outside: Outside, portal: BlockingPortal
) -> None:
    token = let_in(outside, stage.cast.alice)["access_token"]
    with connected(portal, outside.resource, token) as agent:
        agent.names()
    assert ApiKey.objects.get(client=outside.id).last_used_at is not None
