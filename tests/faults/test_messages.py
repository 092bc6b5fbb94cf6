"""Messages are only hints: lost, doubled, late or out of order, and with the broker away, the end is the same."""

from redis.client import PubSub

from tests.faults.scenes import Stage, lost_message
from tests.up import until


def test_an_approved_call_is_made_although_the_broker_was_flushed(stage: Stage) -> None:
    lost_message(stage).is_done_once()


def test_messages_that_come_twice_and_about_other_things_change_nothing(stage: Stage) -> None:
    scene = stage.start("pays")
    request = scene.asked()
    stage.messages.double([scene.run])
    assert stage.bob.decide(request) == 201
    stage.messages.double([scene.run, scene.run])
    scene.is_done_once()


def test_messages_that_come_late_and_in_another_order_change_nothing(stage: Stage) -> None:
    scenes = [stage.start("pays") for _ in range(4)]
    requests = [scene.asked() for scene in scenes]
    with stage.stopped_workers():
        assert [stage.bob.decide(request) for request in requests] == [201] * 4
        assert stage.messages.reorder(0) >= 2
    for scene in scenes:
        scene.is_done_once()


def test_what_is_approved_while_redis_is_away_is_made_when_it_is_back(stage: Stage) -> None:
    scene = stage.start("pays")
    request = scene.asked()
    redis = stage.cluster.redis
    assert redis
    redis.kept_down = True
    redis.kill()
    assert stage.bob.decide(request) == 201
    redis.start()
    scene.is_done_once()
    until(stage.cluster.is_ready, 30)


def test_what_is_approved_while_redis_is_full_is_made_when_it_has_room(stage: Stage) -> None:
    scene, client = stage.start("pays"), stage.cluster.redis_client()
    request = scene.asked()
    client.config_resetstat()
    client.config_set("maxmemory", 1)
    try:
        assert stage.bob.decide(request) == 201
        until(lambda: "errorstat_OOM" in client.info("errorstats"), 20)
    finally:
        client.config_set("maxmemory", 0)
    scene.is_done_once()
    until(stage.cluster.is_ready, 60)


def test_a_call_approved_the_moment_it_asks_is_made_once(stage: Stage) -> None:
    query = "SELECT id::text, digest FROM approvals_approvalrequest WHERE run_id = %s AND status = 'pending'"
    scenes = [stage.start("pays") for _ in range(6)]
    waiting = {scene.run: scene for scene in scenes}
    with stage.cluster.connect() as connection:

        def decide_all() -> bool:
            for run in list(waiting):
                for request, digest in connection.execute(query, [run]).fetchall():
                    assert stage.bob.decide_blind(request, digest) == 201
                    waiting.pop(run)
            return not waiting

        until(decide_all, 60)
    for scene in scenes:
        scene.is_done_once()


def test_open_pages_are_told_through_redis_after_it_was_away_too(stage: Stage) -> None:
    redis = stage.cluster.redis
    assert redis
    redis.kill()
    until(stage.cluster.is_ready, 60)
    with PubSub(stage.cluster.redis_client().connection_pool) as heard:
        heard.psubscribe("*")
        scene = stage.start("looks").settled()
        until(lambda: scene.run in str(heard.get_message(ignore_subscribe_messages=True, timeout=0.2)), 20)
