"""The machine's clock is set an hour forth or back while work waits: nobody waits for that hour."""

from collections.abc import Iterator

import pytest

from tests.faults.scenes import Stage, lost_message
from tests.up import until


@pytest.fixture
def one_machine(stage: Stage) -> Iterator[None]:
    """Of the workers only that one is left whose clock is beat's."""
    stage.cluster.workers[0].stop()
    yield
    stage.cluster.clock.write_text("0")
    stage.cluster.workers[0].start()
    until(stage.cluster.is_ready, 60)


@pytest.mark.usefixtures("one_machine")
@pytest.mark.parametrize("seconds", [3600, -3600])
def test_what_a_lost_message_left_is_found_whatever_the_clock_says(stage: Stage, seconds: int) -> None:
    waiting = stage.start("pays")
    request = waiting.asked()
    stage.cluster.clock.write_text(str(seconds))
    lost_message(stage).is_done_once()
    assert waiting.statuses()[-1] == "held"
    assert stage.bob.decide(request) == 201
    waiting.is_done_once()
