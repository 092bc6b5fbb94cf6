"""A worker is told to stop with as many calls in hand as it can make: it ends them, and others take what waits."""

from signal import SIGTERM

from tests.faults.parts import wait_for_end
from tests.faults.scenes import Stage
from tests.up import until

AT_ONCE = 8


def test_a_worker_told_to_stop_ends_its_eight_calls_and_leaves_the_rest_to_others(stage: Stage) -> None:
    stopping, other = stage.cluster.workers
    other.stop()
    in_hand = [stage.start("held-pay", "held") for _ in range(AT_ONCE)]
    further = [stage.start("held-pay") for _ in range(AT_ONCE // 2)]
    for scene in [*in_hand, *further]:
        scene.asked()
    for scene in in_hand:
        assert stage.bob.decide(scene.asked()) == 201
    until(lambda: all(scene.lines() for scene in in_hand), 30)
    for scene in further:
        assert stage.bob.decide(scene.asked()) == 201
    ending = stopping.pid
    stopping.kept_down = True
    stopping.signal(SIGTERM)
    other.start()
    for scene in further:
        scene.is_done_once()
    assert [scene.statuses() for scene in in_hand] == [["running"]] * AT_ONCE
    stage.let_go()
    assert wait_for_end(ending, 30)
    assert [scene.statuses() for scene in in_hand] == [["succeeded"]] * AT_ONCE
    stopping.start()
    for scene in in_hand:
        scene.is_done_once()
        assert scene.facts().steps[0].token == 1
    stage.hold_again()
