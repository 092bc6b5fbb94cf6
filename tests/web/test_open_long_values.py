"""However large the arguments are, the page is small, nothing is cut silently, and every part can be opened."""

import re
from collections.abc import Callable
from urllib.parse import urlencode

from django.test import Client

from runs import queries
from tests.cast import Person
from tests.web.scene import Scene

type Browse = Callable[[Person], Client]


def test_a_request_with_a_megabyte_stays_small_and_opens_in_parts(scene: Scene, browse: Browse) -> None:
    run_id = scene.run(note="x" * 100_000)
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    bob, address = browse(scene.cast.bob), f"/approvals/{request_id}"
    page = bob.get(address).content.decode()
    assert len(page) < 150_000
    fold = re.findall(r'data-fold="([^"]+)"', page)[0]
    assert f"{address}/values?fold=" in page
    read, at = 0, 0
    while True:
        part = bob.get(f"{address}/values?{urlencode({'fold': fold, 'at': at})}", headers={"HX-Request": "true"})
        read += part.content.decode().count("x" * 1000)
        following = re.search(r"at=(\d+)", part.content.decode())
        if following is None:
            break
        at = int(following.group(1))
    assert read >= 97
    whole = bob.get(f"{address}/values?{urlencode({'fold': fold})}").content.decode()
    assert "<!doctype html>" in whole
    assert "of 100002 bytes" in whole.replace(",", "")


def test_the_canonical_text_opens_in_parts_too(scene: Scene, browse: Browse) -> None:
    run_id = scene.run(note="x" * 100_000)
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    answer = browse(scene.cast.bob).get(f"/approvals/{request_id}/values?fold=canonical+JSON&at=99999")
    assert answer.status_code == 200


def test_an_unknown_fold_and_another_tenant_get_nothing(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    step_id = queries.steps(scene.cast.bob.actor, run_id)[-1].step.id
    addresses = (f"/approvals/{request_id}/values", f"/steps/{step_id}/values", f"/runs/{run_id}/input")
    for address in addresses:
        assert browse(scene.cast.bob).get(f"{address}?fold=nothing").status_code == 404
        assert browse(scene.cast.mallory).get(f"{address}?fold=nothing").status_code == 404


def test_a_step_opens_its_long_values(scene: Scene, browse: Browse) -> None:
    run_id = scene.run(note="x" * 50_000)
    page = browse(scene.cast.bob).get(f"/runs/{run_id}").content.decode()
    step_id = queries.steps(scene.cast.bob.actor, run_id)[-1].step.id
    assert f"/steps/{step_id}/values?fold=" in page
    fold = re.findall(rf"/steps/{step_id}/values\?fold=([^\"]+)", page)[0]
    assert browse(scene.cast.bob).get(f"/steps/{step_id}/values?fold={fold}").status_code == 200
