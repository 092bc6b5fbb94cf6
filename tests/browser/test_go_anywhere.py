"""The command palette works by keyboard alone, from any page, and leads only to real places."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.cast import Person
from tests.web.scene import Scene

type SignIn = Callable[[Person], Page]


def test_the_palette_finds_a_page_by_keyboard(scene: Scene, sign_in: SignIn) -> None:
    page = sign_in(scene.cast.alice)
    page.keyboard.press("Control+k")
    field = page.get_by_role("searchbox", name="Go to a page, or search")
    expect(field).to_be_focused()
    page.keyboard.type("api keys")
    expect(page.locator("[data-palette] li:visible")).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Your API keys")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/keys")


def test_the_palette_searches_for_words_that_name_no_page(scene: Scene, sign_in: SignIn) -> None:
    page = sign_in(scene.cast.bob)
    page.goto("/tools")
    page.keyboard.press("Control+k")
    page.keyboard.type("a&b=<c>")
    page.get_by_role("link", name="Search runs for").press("Enter")
    page.wait_for_url("**/runs?q=a%26b%3D%3Cc%3E")
    expect(page.get_by_label("Filter by task")).to_have_value("a&b=<c>")


def test_escape_closes_the_palette_and_it_stays_away_from_a_decision(scene: Scene, sign_in: SignIn) -> None:
    scene.run()
    page = sign_in(scene.cast.bob)
    page.get_by_role("button", name="Go to").click()
    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Go to")).to_be_hidden()
    page.locator("[data-row] a").click()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Reject this call")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Go to")).to_be_hidden()


def test_without_scripts_no_button_promises_what_it_cannot_do(
    scene: Scene, sign_in: SignIn, context: BrowserContext
) -> None:
    state = sign_in(scene.cast.bob).context.storage_state()
    assert context.browser is not None
    plain = context.browser.new_context(
        base_url=context.pages[0].url.split("/inbox")[0], storage_state=state, java_script_enabled=False
    )
    page = plain.new_page()
    page.goto("/inbox")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    expect(page.locator("[data-scripted]:visible")).to_have_count(0)
    plain.close()
