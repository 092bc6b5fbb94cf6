"""Who may come in, and what others see: nothing of another team's (invariant 31); looking changes nothing (29)."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from pytest_django import Settings

from agentops.mcp.mount import door
from agentops.tenancy.keys import revoke_key
from agentops.tenancy.models import ApiKey
from tests.mcp.agent import told
from tests.mcp.conftest import ERAS, Connect, only_run, runs
from tests.runs.scenario import Stage
from tests.served import Served
from tests.up import until

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
NO_RUN = "018f0000-0000-7000-8000-000000000000"
type Ask = Callable[..., httpx2.Response]


@pytest.fixture
def ask(served: Served, stage: Stage) -> Ask:
    """One plain request."""

    def asking(
        method: str = "POST", path: str = "/mcp", *, key: str | None = "", body: Any = INITIALIZE, **more: str
    ) -> httpx2.Response:
        raw = stage.cast.service.raw_key if key == "" else key
        said = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **more}
        headers = said | ({"Authorization": f"Bearer {raw}"} if raw else {})
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx2.request(method, served.url + path, headers=headers, content=content, timeout=60)

    return asking


def test_without_a_good_token_nobody_comes_in(ask: Ask) -> None:
    missing, wrong = ask(key=None), ask(key="ao_000000000000_x")
    assert (missing.status_code, wrong.status_code) == (401, 401)
    assert missing.headers["WWW-Authenticate"].startswith("Bearer ")
    assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]
    assert (missing.json()["code"], wrong.json()["code"]) == ("not_authenticated", "key_rejected")


def test_a_key_that_may_decide_is_no_agents(stage: Stage, ask: Ask) -> None:
    answer = ask(key=stage.cast.alice.raw_key)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_for_agents")


def test_a_key_that_may_only_read_is_told_what_it_needs(stage: Stage, ask: Ask) -> None:
    ApiKey.objects.filter(id=stage.cast.service.key.id).update(scopes=["runs:read"])
    answer = ask()
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert 'scope="runs:write"' in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT", "OPTIONS"])
def test_only_posts_are_answered_and_change_anything(stage: Stage, ask: Ask, method: str) -> None:
    answer = ask(method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert runs(stage) == []


def test_other_hosts_and_origins_are_turned_away(ask: Ask, served: Served) -> None:
    assert ask(Host="evil.example").status_code == 421
    assert ask(Origin="https://evil.example").status_code == 403
    assert ask(Origin=served.url).status_code == 200


@pytest.mark.parametrize(("said", "scheme"), [("https", "https"), ("https, http", "https"), ("gopher", "http")])
async def test_behind_a_proxy_the_door_names_itself_as_the_authorization_server_does(
    settings: Settings, said: str, scheme: str
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    gateway: Any = door
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(gateway), base_url="http://localhost") as outside:
        answer = await outside.post("/mcp", headers={"X-Forwarded-Proto": said})
    where = f'resource_metadata="{scheme}://localhost/.well-known/oauth-protected-resource/mcp"'
    assert where in answer.headers["WWW-Authenticate"]


def test_a_body_that_is_too_large_or_no_json_is_refused(ask: Ask) -> None:
    assert ask(body=b'{"x": "' + b"a" * (4 * 1024 * 1024) + b'"}').status_code == 413
    assert ask(body=b"{").status_code == 400


_JUNK = [
    b"",
    b"null",
    b"[]",
    b"7",
    b'"x"',
    b"\xff\xfe",
    b'{"jsonrpc": "2.0"}',
    b"[" * 2000,
    b'{"a": NaN}',
    b'{"id": ' + b"9" * 5000 + b"}",
]
_ODD: list[Any] = [
    None,
    [],
    "x",
    7,
    {"name": 7},
    {"name": "t_read", "arguments": []},
    {"name": "t_read", "_meta": []},
    {"name": "\0"},
]


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28", "1999-01-01"])
def test_junk_is_answered_as_the_callers_fault(ask: Ask, era: str) -> None:
    odd = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} for params in _ODD]
    said = {"MCP-Protocol-Version": era, "Mcp-Method": "tools/call", "Mcp-Name": "t_read"}
    for body in [*_JUNK, *odd]:
        answer = ask(body=body, **said)
        assert answer.status_code < 500, body
        assert "Internal" not in answer.text, (body, answer.text)
    assert ask(body=b"{}", **{"Content-Type": "text/plain"}).status_code == 400


@pytest.mark.parametrize("path", ["/mcp/x", "/mcp/r/", "/mcp/r/x", f"/mcp/r/{NO_RUN}"])
def test_there_is_nothing_at_other_addresses(ask: Ask, path: str) -> None:
    assert ask(path=path).status_code == 404


def test_arguments_that_are_not_exact_are_a_refused_step(stage: Stage, ask: Ask) -> None:
    params = '{"name": "t_note", "arguments": {"text": "a", "text": "b"}}'
    call = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
    answer = ask(body=call.encode(), **{"MCP-Protocol-Version": "2025-11-25"})
    assert "The key appears twice" in answer.text
    assert stage.statuses(only_run(stage)) == ["refused"]


def test_mallory_sees_a_run_of_others_as_one_that_is_not(stage: Stage, ask: Ask) -> None:
    run_id = stage.outside()
    mallory = stage.cast.other_service.raw_key
    theirs, nothing = (ask(path=f"/mcp/r/{run}", key=mallory) for run in (run_id, NO_RUN))
    assert (theirs.status_code, theirs.json()) == (nothing.status_code, nothing.json())


@pytest.mark.parametrize("era", ERAS)
def test_mallory_learns_nothing_by_calls_either(stage: Stage, connect: Connect, era: str) -> None:
    agent = connect(**{"X-AgentOps-Hold": "0"})
    held = told(agent.call("t_pay_plain", account=stage.account, amount="5"))
    mallory = connect(era, key=stage.cast.other_service.raw_key)
    with pytest.raises(MCPError):
        mallory.tools()
    with pytest.raises(MCPError):
        mallory.call("t_pay_plain", account=stage.account, amount="5")
    with pytest.raises(MCPError):
        mallory.call("approval_wait", approval_id=held["approval_id"])
    assert stage.pending(only_run(stage)).status == "pending"


def test_a_stream_ends_with_its_key(stage: Stage, connect: Connect) -> None:
    agent = connect()
    with agent.listening() as heard:
        revoke_key(stage.cast.carol.actor, key_id=stage.cast.service.key.id)
        assert heard.get(timeout=60) == "ended"
    with pytest.raises(MCPError):
        agent.tools()


def test_what_came_of_a_call_is_not_told_to_a_key_that_was_revoked_meanwhile(
    stage: Stage, connect: Connect, worker: None
) -> None:
    agent = connect(**{"X-AgentOps-Hold": "60"})
    assert agent.names()
    call = agent.begin("t_pay_plain", account=stage.account, amount="5")
    until(lambda: bool(runs(stage) and stage.requests(only_run(stage))))
    revoke_key(stage.cast.carol.actor, key_id=stage.cast.service.key.id)
    stage.reject(only_run(stage))
    with pytest.raises(MCPError, match="not valid any more"):
        call.result(60)
