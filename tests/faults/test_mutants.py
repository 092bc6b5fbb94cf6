"""The harness is trusted only because it catches an engine that is broken on purpose; one scene for each way."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from tests.faults.scenes import Scene, Stage, changed_arguments, killed_worker, lost_message, stale_worker


@pytest.fixture
def broken(stage: Stage) -> Iterator[Callable[[str], None]]:
    """Plants a mutant into every worker; afterwards they are whole again."""
    yield stage.cluster.employ
    stage.cluster.employ()


def complaints(scene: Scene, seconds: float = 45) -> list[str]:
    """What the oracle says of this run when it is quiet, or has had its time."""
    with suppress(AssertionError):
        scene.settled(seconds)
    return scene.complaints()


def test_a_stale_worker_cannot_settle(stage: Stage) -> None:
    assert stale_worker(stage) == []


def test_an_engine_without_fencing_is_caught(stage: Stage, broken: Callable[[str], None]) -> None:
    broken("no_fencing")
    assert stale_worker(stage) == ["the stale worker settled the call of the other one"]


def test_an_engine_without_sweeps_is_caught(stage: Stage, broken: Callable[[str], None]) -> None:
    broken("no_sweep")
    scene = lost_message(stage)
    found = complaints(scene, 5)
    assert any("is cleared" in word for word in found), found
    # Its call is still due, and would be the one that the next test's fault hits.
    stage.cluster.employ()
    scene.settled()


def test_an_engine_that_retries_everything_is_caught(stage: Stage, broken: Callable[[str], None]) -> None:
    broken("retry_everything")
    found = complaints(killed_worker(stage, "after_call", "pay", "pays"))
    assert any("acted 2 times" in word for word in found), found


def test_arguments_changed_after_approval_are_asked_about_again(stage: Stage) -> None:
    scene = changed_arguments(stage)
    assert complaints(scene) == []
    assert scene.statuses() == ["succeeded", "held"]
    assert not [line for line in scene.lines() if line.acted]


def test_an_engine_that_does_not_compare_digests_is_caught(stage: Stage, broken: Callable[[str], None]) -> None:
    broken("no_digest_check")
    found = complaints(changed_arguments(stage))
    assert any("acted on what nobody approved" in word for word in found), found


def test_an_engine_whose_events_are_outside_the_transaction_is_caught(
    stage: Stage, broken: Callable[[str], None]
) -> None:
    broken("event_outside")
    found = complaints(killed_worker(stage, "claim_uncommitted", "pay", "pays"), 5)
    assert any("the chain of run" in word for word in found), found
