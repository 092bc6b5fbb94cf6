"""Redis gives a message again that nobody finished in time, or gives none again: a call is made once, none is lost."""

from collections.abc import Iterator

import pytest

from tests.faults.cluster import VISIBLE_SECONDS
from tests.faults.scenes import Stage, killed_worker
from tests.up import until


@pytest.fixture
def stuck(stage: Stage) -> Iterator[None]:
    """Whoever was restoring messages died and left its lock behind for good."""
    client = stage.cluster.redis_client()
    client.set("unacked_mutex", "somebody who is gone")
    yield
    client.delete("unacked_mutex")


def test_news_that_comes_again_while_its_call_runs_or_a_person_is_awaited_is_one_call(stage: Stage) -> None:
    other = stage.cluster.workers[1]
    waiting = stage.start("pays")
    request = waiting.asked()
    other.stop()
    calling = stage.approved("held-pay", "held")
    until(lambda: stage.messages.unfinished(calling.run, VISIBLE_SECONDS), 30)
    assert not stage.messages.unfinished(waiting.run)
    with stage.messages.delivered_again() as is_given_again:
        # A worker looks for what nobody finished when it starts, and then every 100 seconds.
        other.start()
        until(lambda: is_given_again(calling.run), 30)
    stage.let_go()
    calling.is_done_once()
    stage.hold_again()
    assert waiting.statuses()[-1] == "held"
    assert stage.bob.decide(request) == 201
    waiting.is_done_once()


@pytest.mark.usefixtures("stuck")
def test_what_a_dead_worker_left_is_done_although_redis_gives_nothing_again(stage: Stage) -> None:
    killed_worker(stage, "before_claim", "pay", "pays").is_done_once()
