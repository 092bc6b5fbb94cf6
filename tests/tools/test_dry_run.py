"""Trying a tool: reads run, changes only show what they would send."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from agentops.tenancy.errors import ScopeMissing
from tests.cast import Cast
from tests.sandbox.inside import command_spec
from tests.tools.calls import http_spec, post_spec
from tests.tools.server import Server, answering, echo, serving
from tools.credentials import set_credential
from tools.domain.errors import ToolNotFound
from tools.domain.outcome import Succeeded
from tools.dry_run import dry_run
from tools.operations import register_tool, update_tool

type Allow = Callable[[Server], None]


def test_a_read_runs(cast: Cast, reachable: Allow) -> None:
    with serving(answering(200, {"status": "open"})) as server:
        reachable(server)
        register_tool(cast.carol.actor, http_spec(server.url()))
        tried = dry_run(cast.carol.actor, "probe", {})
    assert isinstance(tried.outcome, Succeeded)
    assert tried.outcome.result == {"status": "open"}


def test_a_change_only_shows_its_request(cast: Cast, reachable: Allow) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}, "password": {"type": "string"}}}
    with serving(echo) as server:
        reachable(server)
        set_credential(cast.carol.actor, "ledger", server.host, SecretStr("bearer-0123456789"))
        spec = post_spec(
            server.url("/pay"),
            credential="ledger",
            input_schema=schema,
            approval_summary="Pay {args.x}.",
            idempotency="header:Idempotency-Key",
        )
        register_tool(cast.carol.actor, spec)
        tried = dry_run(cast.carol.actor, "probe", {"x": "INV-1", "password": "hunter2"})
        assert server.connections == 0
    shown = tried.would_send
    assert shown is not None
    assert (shown.summary, shown.method, shown.url) == ("Pay INV-1.", "POST", server.url("/pay"))
    assert "hunter2" not in repr(tried)
    assert "bearer-0123456789" not in repr(tried)
    assert ("Authorization", "Bearer (credential)") in shown.headers


def test_a_stored_bearer_is_a_tag_wherever_it_travels(cast: Cast, reachable: Allow) -> None:
    bearer = "bearer-0123456789"
    set_credential(cast.carol.actor, "ledger", "ledger.example:443", SecretStr(bearer))
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}}
    with serving(answering(200, {"echo": f"you sent {bearer}", "password": "hunter2"})) as server:
        reachable(server)
        register_tool(cast.carol.actor, http_spec(server.url()))
        read = dry_run(cast.carol.actor, "probe", {})
        update_tool(cast.carol.actor, "probe", post_spec(server.url("/pay"), input_schema=schema))
        change = dry_run(cast.carol.actor, "probe", {"x": bearer})
    assert isinstance(read.outcome, Succeeded)
    assert "⟦secret" in read.outcome.result_text
    assert "hunter2" not in repr(read)
    assert change.would_send is not None
    assert bearer not in repr(read) + repr(change)


def test_a_command_that_reads_runs_and_one_that_changes_is_shown(cast: Cast, bubblewrap: None) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}, "password": {"type": "string"}}}
    argv = ("/usr/bin/printf", "--", "%s", "{args.x}")
    register_tool(cast.carol.actor, command_spec(*argv, input_schema=schema))
    read = dry_run(cast.carol.actor, "probe", {"x": "ü"})
    assert isinstance(read.outcome, Succeeded), read
    assert read.outcome.result == "ü"
    change = command_spec(*argv, risk="write", input_schema=schema, command={"stdin": "args"})
    update_tool(cast.carol.actor, "probe", change)
    shown = dry_run(cast.carol.actor, "probe", {"x": "a b", "password": "hunter2"}).would_send
    assert shown is not None
    assert shown.argv == ("/usr/bin/printf", "--", "%s", "a b")
    assert '"password":"⟦secret' in (shown.body or "")
    assert "hunter2" not in repr(shown)
    refused = dry_run(cast.carol.actor, "probe", {"x": "a\0b"}).refused
    assert refused is not None
    assert refused.code == "invalid_arguments"


def test_wrong_arguments_are_named(cast: Cast) -> None:
    spec = http_spec("https://a.example/", input_schema={"type": "object", "required": ["x"]})
    register_tool(cast.carol.actor, spec)
    tried = dry_run(cast.carol.actor, "probe", {})
    assert tried.outcome is None
    assert len(tried.faults) == 1


def test_who_may_not_write_tools_may_not_try_them(cast: Cast) -> None:
    with pytest.raises(ScopeMissing):
        dry_run(cast.alice.actor, "probe", {})
    with pytest.raises(ToolNotFound):
        dry_run(cast.carol.actor, "probe", {})
