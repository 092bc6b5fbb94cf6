"""What was displayed, what was approved and what the tool received are the same bytes."""

import json
from hashlib import sha256
from typing import Any

import pytest
from django.db import connections, transaction
from pytest_django import Settings

from approvals import queries
from runs.domain.planning import ToolProposal
from runs.masking import seal_args
from tests.runs.scenario import Stage
from tests.tools.server import answering, serving
from tools.domain.canonical import canonical, parse
from tools.domain.errors_values import InvalidJson


def _nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


NASTY = {
    "beyond doubles": "9007199254740993",
    "19 digits": "1234567890123456789",
    "a tenth": "0.1",
    "more digits than a double": "0.1000000000000000055511151231257827",
    "minus zero": "-0",
    "one, spelt otherwise": "1.0e0",
    "null byte": '"a\\u0000b"',
    "depth 60": _nested(60),
    "a megabyte": json.dumps("x" * 1_000_000),
    "500 keys": json.dumps({f"k{n}": n for n in range(500)}),
    "bidi": '"\\u202egnp.exe\\u2066"',
    "empty": "{}",
    "null": "null",
    "keys": '{"b":1,"a":{"":2,"\\u200b":3}}',
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_the_tool_receives_the_bytes_that_were_shown_and_approved(stage: Stage, settings: Settings, text: str) -> None:
    with serving(answering(200, {"ok": True})) as server:
        settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = server.host
        name = stage.tool(
            {
                "name": "t_send", "description": "Sends.", "kind": "http", "risk": "destructive",
                "required_scope": "ledger:write", "input_schema": {"type": "object", "properties": {"v": {}}},
                "approval_summary": "Send {args.v}", "resource_scope": "to:{args.v}",
                "http": {"method": "POST", "url": server.url("/in"), "body": "{args}"},
            }
        )  # fmt: skip
        run_id = stage.outside(tools=[name])
        args: Any = parse(f'{{"v":{text}}}')
        stage.propose(run_id, ToolProposal(name, args))
        shown = queries.request(stage.cast.bob.actor, stage.pending(run_id).id).args_text
        stage.approve(run_id)
        stage.work(run_id)
        (received,) = server.requests
    assert stage.statuses(run_id) == ["succeeded"]
    assert canonical(parse(received.body)) == shown == canonical(args)
    (started,) = [e for e in stage.events(run_id) if e.kind == "step.started"]
    told = json.loads(started.data)
    (step,) = stage.steps(run_id)
    assert told["args_digest"] == sha256(canonical(parse(received.body)).encode()).hexdigest()
    assert told["approved_digest"] == step.digest == stage.requests(run_id)[0].digest


@pytest.mark.parametrize("text", ["1e400", "NaN", "Infinity", '{"a":1,"a":2}', '"\\ud800"', _nested(64), "1" * 1001])
def test_what_has_no_exact_form_is_not_read_at_all(text: str) -> None:
    with pytest.raises(InvalidJson):
        parse(f'{{"v":{text}}}')


def test_one_changed_byte_after_the_approval_runs_nothing(stage: Stage) -> None:
    """As the owner of the tables could: the application role cannot change a proposal."""
    run_id = stage.outside()
    (step,) = stage.propose(run_id, stage.pay("5"))
    stage.approve(run_id)
    sealed = seal_args(stage.tenant_id, step.id, {"account": stage.account, "amount": "6"})
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE runs_proposal DISABLE TRIGGER USER")
        cursor.execute("SELECT set_config('app.tenant', %s, true)", [str(stage.tenant_id)])
        cursor.execute("UPDATE runs_proposal SET sealed = %s WHERE step_id = %s", [sealed, step.id])
        changed = cursor.rowcount
        cursor.execute("ALTER TABLE runs_proposal ENABLE TRIGGER USER")
    assert changed == 1
    stage.work(run_id)
    assert stage.world.paid == []
    (first, second) = stage.requests(run_id)
    assert (first.status, second.status) == ("superseded", "pending")
    assert "What would be sent is not what was approved." in second.reasons
