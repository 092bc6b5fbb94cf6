"""A command goes the way of every other call: held, shown, started as shown, stopped, and on the record."""

import json
import time
from typing import Any
from uuid import UUID, uuid4

import pytest

from agentops.tenancy.transaction import tenant_transaction
from approvals.queries import request
from runs import execution
from runs.domain.planning import ToolProposal
from runs.models import Attempt, Observation, WorkItem
from runs.operations.cancelling import cancel
from tests.runs.scenario import Stage
from tests.runs.threads import working
from tests.sandbox.inside import PYTHON
from tests.sandbox.processes import appear, marked, vanish
from tools.sandbox import enclosure, level

pytestmark = pytest.mark.usefixtures("bubblewrap")

ITS_LINE = ("/bin/sh", "-c", r"tr '\0' '\n' < /proc/$$/cmdline", "--", "{args.x}")
STAYS = (
    *PYTHON,
    "import os, time; [os.setsid() for _ in range(2) if os.fork() == 0]; time.sleep(600)",
    "--",
    "{args.x}",
)


def _definition(argv: tuple[str, ...], risk: str) -> dict[str, Any]:
    return {
        "name": "t_command", "description": "A command.", "kind": "command", "risk": risk,
        "required_scope": "ledger:write", "input_schema": {"type": "object", "properties": {"x": {}}},
        "command": {"argv": argv},
    }  # fmt: skip


def _called(stage: Stage, argv: tuple[str, ...], x: str, *, risk: str = "destructive", **fields: Any) -> UUID:
    """A run whose one call is this command, as far as a worker without a sandbox takes it."""
    name = stage.tool(_definition(argv, risk) | fields)
    run_id = stage.outside(tools=[name])
    stage.propose(run_id, ToolProposal(name, {"x": x}))
    if risk != "read":
        stage.approve(run_id)
    stage.work(run_id)
    return run_id


def _attempt(stage: Stage, run_id: UUID) -> Attempt:
    with tenant_transaction(stage.tenant_id):
        return Attempt.objects.get(step__run_id=run_id)


def test_what_was_shown_is_what_was_started(stage: Stage) -> None:
    run_id = _called(stage, ITS_LINE, "a 'b' $(id)")
    execution.work("sandbox", run_id)
    view = request(stage.cast.bob.actor, stage.requests(run_id)[0].id)
    with tenant_transaction(stage.tenant_id):
        seen = Observation.objects.get(step__run_id=run_id).whole
    assert view.snapshot["command"] == {"argv": [*ITS_LINE[:-1], "a 'b' $(id)"], "stdin": False}
    assert json.loads(seen) == "\n".join([*view.snapshot["command"]["argv"], ""])


def test_arguments_that_no_command_line_can_hold_are_refused_before_anybody_is_asked(stage: Stage) -> None:
    name = stage.tool(_definition(("/usr/bin/rm", "{args.x}"), "destructive"))
    run_id = stage.outside(tools=[name])
    (step,) = stage.propose(run_id, ToolProposal(name, {"x": "-rf"}))
    assert (step.status, stage.refusal(step)["code"]) == ("refused", "invalid_arguments")
    assert "read as an option" in stage.refusal(step)["message"]


def test_a_command_waits_for_a_worker_of_its_queue(stage: Stage) -> None:
    run_id = _called(stage, ("/usr/bin/true",), "1")
    assert stage.statuses(run_id) == ["cleared"]
    assert WorkItem.objects.get(id=run_id).queue == "sandbox"
    execution.work("sandbox", run_id)
    assert stage.statuses(run_id) == ["succeeded"]
    stage.propose(run_id, stage.read())
    assert WorkItem.objects.get(id=run_id).queue == "control"
    execution.work("sandbox", run_id)
    assert stage.statuses(run_id) == ["succeeded", "cleared"]
    stage.work(run_id)
    assert stage.statuses(run_id) == ["succeeded", "succeeded"]


def test_a_command_whose_worker_died_is_made_again_by_one_of_its_queue(stage: Stage) -> None:
    name = stage.tool(_definition(("/usr/bin/true",), "read"))
    run_id = stage.outside(tools=[name])
    stage.propose(run_id, ToolProposal(name, {}), stage.read())
    stage.work(run_id)
    assert stage.statuses(run_id) == ["cleared", "succeeded"]
    stage.claim_only(run_id, "sandbox")
    stage.lease_ends(run_id)
    WorkItem.objects.filter(id=run_id).update(queue="control")
    stage.work(run_id)
    assert stage.statuses(run_id) == ["running", "succeeded"]
    execution.work("sandbox", run_id)
    assert stage.statuses(run_id) == ["succeeded", "succeeded"]


def test_the_level_of_the_sandbox_is_on_the_record(stage: Stage) -> None:
    run_id = _called(stage, ("/usr/bin/true",), "1")
    execution.work("sandbox", run_id)
    assert _attempt(stage, run_id).sandbox_level == 3
    assert [event.data for event in stage.events(run_id) if event.kind == "sandboxed"] != []


def test_a_call_that_needs_no_sandbox_says_nothing_of_one(stage: Stage) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    assert _attempt(stage, run_id).sandbox_level is None
    assert "sandboxed" not in stage.kinds(run_id)


def test_a_cancelled_command_is_gone_within_a_second_and_unknown(stage: Stage) -> None:
    mark = f"agentops-mark-{uuid4()}"
    run_id = _called(stage, STAYS, mark, timeout_ms=60_000)
    with working(run_id, "sandbox"):
        appear(mark, 5)
        asked = time.monotonic()
        cancel(stage.cast.alice.actor, run_id)
        vanish(mark, within=1)
        assert time.monotonic() - asked < 1
    (step,) = stage.steps(run_id)
    assert (step.status, stage.run(run_id).status) == ("unknown", "cancelled")
    assert stage.refusal(step)["message"].startswith("cancelled: ")


@pytest.mark.parametrize(("risk", "status"), [("read", "failed"), ("destructive", "unknown")])
def test_an_overrun_ends_all_of_it_and_only_a_change_is_unknown(stage: Stage, risk: str, status: str) -> None:
    mark = f"agentops-mark-{uuid4()}"
    run_id = _called(stage, STAYS, mark, risk=risk, timeout_ms=800)
    execution.work("sandbox", run_id)
    assert marked(mark) == []
    assert stage.statuses(run_id) == [status]


def test_a_machine_without_a_sandbox_refuses_and_says_what_to_install(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = _called(stage, ("/usr/bin/true",), "1")
    with monkeypatch.context() as bare:
        bare.setitem(enclosure.ENVIRONMENT, "PATH", "/nowhere")
        level._isolated.cache_clear()
        execution.work("sandbox", run_id)
    (step,) = stage.steps(run_id)
    told = stage.refusal(step)
    assert (step.status, told["code"], told["retryable"]) == ("failed", "sandbox_unavailable", True)
    assert "apt install" in told["hint"]
    assert _attempt(stage, run_id).sandbox_level is None
