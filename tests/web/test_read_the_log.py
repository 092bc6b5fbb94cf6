"""The log of a run as its readers see it."""

import json
from collections.abc import Callable
from typing import Any

from django.test import Client

from runs import queries
from tests.cast import Person
from tests.web.scene import Scene

type Browse = Callable[[Person], Client]


def test_the_log_says_that_it_holds_and_can_be_taken_away(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    length = queries.run(scene.cast.carol.actor, run_id).run.event_seq
    carol = browse(scene.cast.carol)
    page = carol.get(f"/runs/{run_id}/events").content.decode()
    assert f"all {length} events follow from one another" in page
    answer = carol.get(f"/runs/{run_id}/export")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="run-{run_id}.json"'
    assert len(json.loads(answer.content)["events"]) == length


def test_a_changed_event_is_named_on_the_page(scene: Scene, browse: Browse, superuser: Any) -> None:
    run_id = scene.run()
    superuser.execute("UPDATE runs_event SET actor = 'nobody' WHERE run_id = %s AND seq = 2", [run_id])
    page = browse(scene.cast.carol).get(f"/runs/{run_id}/events").content.decode()
    assert "event 2 does not follow" in page


def test_another_tenant_finds_no_log(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    for address in ("events", "export"):
        assert browse(scene.cast.mallory).get(f"/runs/{run_id}/{address}").status_code == 404
