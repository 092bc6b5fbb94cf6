"""A run's page says what waits, which step is which, and how much of each budget is gone."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from agentops.web.bars import bars
from agentops.web.durations import lasted
from runs import queries
from runs.operations.starting import start_run
from tests.cast import Person
from tests.web.scene import Scene
from tools.domain.canonical import Json

type Browse = Callable[[Person], Client]


def test_a_waiting_run_names_what_it_waits_for(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    page = browse(scene.cast.alice).get(f"/runs/{run_id}").content.decode()
    notice = page.split("A call waits for a person.")[1].split("</section>")[0]
    assert f'href="/approvals/{request_id}"' in notice
    assert "DE02 1203 0000 0000 2020 51" in notice


def test_each_step_shows_its_number_and_first_values(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    page = browse(scene.cast.alice).get(f"/runs/{run_id}").content.decode()
    rows = [row.split("</summary>")[0] for row in page.split('<details class="fall"')[1:]]
    assert [re.findall(r'<span class="muted">(.*?)</span>', row)[0] for row in rows] == ["1", "2"]
    assert "&quot;INV-" in rows[0]


def test_a_run_shows_the_trace_under_which_a_collector_keeps_it(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    trace = queries.run(scene.cast.bob.actor, run_id).trace_id
    page = browse(scene.cast.alice).get(f"/runs/{run_id}").content.decode()
    assert f'<span class="mono">{trace}</span>' in page
    assert f'data-copy="{trace}"' in page


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.04, "< 0.1 s"),
        (1.5, "1.5 s"),
        (59.97, "1 min"),
        (90.4, "1 min 30 s"),
        (3599.9, "59 min 59 s"),
        (5400, "1 h 30 min"),
    ],
)
def test_a_step_says_how_long_it_took_without_rounding_minutes_away(seconds: float, told: str) -> None:
    assert lasted(seconds) == told


def test_one_run_is_not_told_as_many(scene: Scene, browse: Browse) -> None:
    alice = browse(scene.cast.alice)
    for total in ("1 run", "2 runs"):
        scene.run()
        said = alice.get("/runs").content.decode().split('<p class="muted small">')[1].split("</p>")[0]
        assert " ".join(said.split()) == total


@pytest.mark.parametrize(
    ("used", "figure"),
    [(0, "0 s / 2 h"), (59, "59 s / 2 h"), (1295, "21 min 35 s / 2 h"), (5400, "1 h 30 min / 2 h")],
)
def test_the_wall_clock_is_told_in_hours_and_minutes(used: int, figure: str) -> None:
    budget = {"limit": {"seconds": 7200}, "used": {"seconds": used}, "reserved": {}}
    assert [bar.figure for bar in bars(budget)] == [figure]


def test_a_run_started_again_asks_for_its_secrets_anew(scene: Scene, browse: Browse) -> None:
    given: Json = {"invoice": "INV-1", "account": "DE02", "meta": {"password": "hunter2-hunter2"}}
    run_id = start_run(scene.cast.alice.actor, agent="office", task="Pay", given=given).run_id
    alice = browse(scene.cast.alice)
    assert "hunter2" not in alice.get(f"/runs/{run_id}").content.decode()
    page = alice.get(f"/runs/start?again={run_id}")
    form = page.context["form"].initial
    assert "hunter2" not in form["given"]
    answer = alice.post("/runs/start", form)
    assert answer.status_code == 422
    assert "is not the secret" in answer.content.decode()
