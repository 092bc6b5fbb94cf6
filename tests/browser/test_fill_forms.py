"""A refused form begins at its first fault, and the fault is told with its field."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.cast import Person
from tests.web.scene import Scene


def test_a_refused_form_begins_at_its_first_fault(scene: Scene, sign_in: Callable[[Person], Page]) -> None:
    scene.run()
    page = sign_in(scene.cast.alice)
    page.goto("/runs/start")
    page.get_by_label("Task").fill("Pay it")
    page.get_by_label("Input (JSON object)").fill("[1]")
    page.get_by_role("button", name="Start", exact=True).click()
    given = page.get_by_label("Input (JSON object)")
    expect(given).to_be_focused()
    expect(given).to_have_value("[1]")
    expect(given).to_have_accessible_description(re.compile("The input must be a JSON object[.]"))
