"""Approved is not executed: the open page follows a call through the queue and the tool to each of its ends."""

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from runs import queries
from tests.browser.conftest import Elsewhere
from tests.cast import Person
from tests.web.scene import HELD, Scene

type SignIn = Callable[[Person], Page]


@pytest.mark.parametrize(
    ("account", "end"), [("GB29 NWBK", "succeeded"), ("closed", "failed"), ("lost", "outcome unknown")]
)
def test_the_page_shows_queued_executing_and_how_it_ended(
    scene: Elsewhere, sign_in: SignIn, account: str, end: str
) -> None:
    run_id = scene.run(account=account)
    page = opened(scene, sign_in, run_id)
    page.get_by_role("button", name="Approve").click()
    page.get_by_label("It cannot be undone").fill(page.locator("#approve .target").inner_text())
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    stage = page.locator(".progress .now")
    expect(stage).to_have_text("queued")
    page.evaluate("window.loadedOnce = true")
    HELD[account] = threading.Event()
    work = scene.begin(run_id)
    expect(stage).to_have_text("executing")
    HELD.pop(account).set()
    work.result()
    expect(page.locator(".progress li").last).to_have_text(end)
    expect(stage).to_have_count(0)
    assert page.evaluate("window.loadedOnce")


def opened(scene: Scene, sign_in: SignIn, run_id: UUID) -> Page:
    """The live page of what the run waits for, as bob sees it."""
    page = sign_in(scene.cast.bob)
    page.goto(f"/approvals/{queries.run(scene.cast.bob.actor, run_id).open_approvals[0]}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    return page
