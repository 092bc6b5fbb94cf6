"""A worker is killed with -9 at every named point of a call: a mutation acts at most once, a read is made again."""

import pytest

from tests.faults.names import POINTS
from tests.faults.scenes import Scene, Stage, dead_worker, killed_worker

_BEFORE = {"before_claim", "claim_uncommitted"}
_AFTER = {"after_settle"}


@pytest.fixture(scope="module")
def scenes(stage: Stage) -> dict[tuple[str, str], Scene]:
    """A mutation and a read for every point. Both have ended before the next worker is killed, which would otherwise
    take their calls with it."""
    agents, made = {"pay": "pays", "look": "looks"}, dict[tuple[str, str], Scene]()
    for point in POINTS:
        for tool, agent in agents.items():
            scene = killed_worker(stage, point, tool, agent)
            made[point, tool] = scene.settled() if point in _BEFORE | _AFTER else scene
        for tool in agents:
            made[point, tool].settled()
    return made


@pytest.mark.parametrize("point", POINTS)
def test_a_mutation_acts_at_most_once_wherever_its_worker_dies(
    scenes: dict[tuple[str, str], Scene], point: str
) -> None:
    scene = scenes[point, "pay"]
    assert scene.complaints() == []
    certain = point in _BEFORE | _AFTER
    assert scene.statuses()[1] == ("succeeded" if certain else "unknown")
    acted = [line for line in scene.lines() if line.acted]
    assert len(acted) == (0 if point == "after_claim" else 1)


@pytest.mark.parametrize("point", POINTS)
def test_a_read_is_made_again_wherever_its_worker_dies(scenes: dict[tuple[str, str], Scene], point: str) -> None:
    scene = scenes[point, "look"]
    assert scene.complaints() == []
    assert scene.statuses() == ["succeeded"]
    assert scene.facts().steps[0].token >= (1 if point in _BEFORE | _AFTER else 2)


def test_a_call_that_the_tool_itself_makes_once_is_sent_again_and_completes(stage: Stage) -> None:
    scene = killed_worker(stage, "after_call", "once", "once").settled()
    assert scene.complaints() == []
    assert scene.statuses() == ["succeeded", "succeeded"]
    sent = [line for line in scene.lines() if line.tool == "once"]
    assert [line.acted for line in sent] == [True, False]


def test_a_lost_call_that_can_be_looked_up_ends_known(stage: Stage) -> None:
    scene = killed_worker(stage, "after_call", "keyed", "keyed")
    scene.settled_known()
    assert scene.complaints() == []
    assert "step.reconciled_succeeded" in scene.kinds()


def test_what_a_run_has_used_is_kept_when_its_worker_dies(stage: Stage) -> None:
    stage.arm("after_settle", "look")
    scene = stage.start("bounded")
    stage.wait_for_death("after_settle", "look")
    scene.lease_ends().settled()
    assert scene.complaints() == []
    run = stage.program.run(scene.run)
    assert (run["status"], run["terminal_reason"]) == ("exhausted", "tool_call_budget")
    assert (run["budget"]["used"]["tool_calls"], run["budget"]["reserved"]["tool_calls"]) == (2, 0)
    assert [line.tool for line in scene.lines()] == ["read", "read"]


def test_a_worker_that_dies_while_it_takes_a_call_over_leaves_it_to_the_next(stage: Stage) -> None:
    reading = _killed_twice(stage, "claim_uncommitted", "look", "looks")
    assert reading.statuses() == ["succeeded"]
    assert reading.facts().steps[0].token == 2
    paying = _killed_twice(stage, "settle_uncommitted", "pay", "pays")
    assert paying.statuses() == ["succeeded", "unknown"]
    assert not [line for line in paying.lines() if line.acted]


def test_a_call_that_kills_its_worker_each_time_ends_failed_and_stops_nobody_else(stage: Stage) -> None:
    scene = dead_worker(stage, "after_call", "look", "looks")
    for _ in range(2):
        stage.approved("held-pay").is_done_once()
        stage.arm("after_call", "look")
        scene.lease_ends()
        stage.wait_for_death("after_call", "look")
    scene.lease_ends().settled()
    assert scene.complaints() == []
    assert scene.statuses() == ["failed"]
    assert len(scene.lines()) == 3


def _killed_twice(stage: Stage, then: str, tool: str, agent: str) -> Scene:
    """The first worker had claimed the call, the second one was writing down what becomes of it."""
    scene = dead_worker(stage, "after_claim", tool, agent)
    stage.arm(then, tool)
    scene.lease_ends()
    stage.wait_for_death(then, tool)
    return scene.settled()
