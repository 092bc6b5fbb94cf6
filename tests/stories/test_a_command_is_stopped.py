"""A destructive command was approved and runs; whatever stops it, nothing of it goes on, and its outcome is unknown."""

from uuid import uuid4

import pytest

from tests.sandbox.inside import PYTHON
from tests.sandbox.processes import appear, vanish
from tests.stories.office import Office
from tests.up import Up, until

pytestmark = pytest.mark.usefixtures("bubblewrap")

STAYS = "import os, time; [os.setsid() for _ in range(2) if os.fork() == 0]; time.sleep(600)"
EVERY = 7
"""Three processes of the sandbox, the program, its two children, and the child of one of these."""


@pytest.fixture(scope="module")
def agent(office: Office) -> str:
    """An agent outside whose tools are two commands; its slug."""
    for name, timeout_ms in (("purge", 60_000), ("purge_soon", 5_000)):
        tool = {
            "name": name,
            "description": "Stays, with children that leave its session.",
            "kind": "command",
            "risk": "destructive",
            "required_scope": "ledger:read",
            "input_schema": {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]},
            "timeout_ms": timeout_ms,
            "command": {"argv": [*PYTHON, STAYS, "--", "{args.mark}"]},
        }
        assert office.service.post("/tools", json=tool).status_code == 201
    tools = ["purge", "purge_soon"]
    body = {"slug": "purger", "name": "Purger", "planner": "external", "tools": tools}
    assert office.service.post("/agents", json=body).status_code == 201
    return "purger"


def _under_way(office: Office, agent: str, tool: str) -> tuple[str, str]:
    """A run whose command was approved as it was shown and is running; the mark of its processes."""
    mark = f"agentops-mark-{uuid4()}"
    run: str = office.service.post("/runs", json={"agent": agent, "task": "Purge"}).json()["id"]
    office.propose(run, {"kind": "tool", "tool": tool, "args": {"mark": mark}})
    asked = office.asked(run)
    assert asked["command"] == {"argv": [*PYTHON, STAYS, "--", mark], "stdin": False}
    assert office.approve(asked).status_code == 201
    appear(mark, EVERY)
    return run, mark


def test_cancelling_ends_it_within_a_second(office: Office, agent: str) -> None:
    run, mark = _under_way(office, agent, "purge")
    assert office.service.post(f"/runs/{run}/cancel", json={"reason": "Stop."}).status_code == 202
    vanish(mark, within=1)
    until(lambda: office.step(run, "purge")["status"] == "unknown")
    assert office.ended(run)["status"] == "cancelled"
    (attempt,) = office.step(run, "purge")["attempts"]
    assert (attempt["outcome"], attempt["sandbox_level"]) == ("unknown", 3)
    assert attempt["detail"].startswith("cancelled: ")


def test_its_time_limit_ends_it(office: Office, agent: str) -> None:
    run, mark = _under_way(office, agent, "purge_soon")
    until(lambda: office.step(run, "purge_soon")["status"] == "unknown")
    vanish(mark, within=0.5)
    assert office.run(run)["status"] == "observing"
    assert office.step(run, "purge_soon")["attempts"][0]["detail"].startswith("timeout: ")


def test_the_death_of_its_worker_ends_it(up: Up, office: Office, agent: str) -> None:
    run, mark = _under_way(office, agent, "purge_soon")
    up.part("worker").kill()
    vanish(mark, within=1)
    assert office.step(run, "purge_soon")["status"] == "running"
    until(lambda: office.step(run, "purge_soon")["status"] == "unknown")
