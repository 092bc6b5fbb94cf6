"""A page follows the database by itself, and letters never decide."""

from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect

from approvals.domain.decision import Verdict
from approvals.queries import request as request_of
from runs import queries
from runs.operations.deciding import decide
from tests.cast import Person
from tests.web.scene import Scene

type SignIn = Callable[[Person], Page]


def test_a_person_approves_and_watches_it_succeed_without_reloading(scene: Scene, sign_in: SignIn) -> None:
    run_id = scene.run()
    page = sign_in(scene.cast.bob)
    page.get_by_role("link", name="Pay 12400.00").click()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    target = page.locator("#approve .target").inner_text()
    page.get_by_label("It cannot be undone").fill(target)
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(page.locator(".progress .now")).to_have_text("queued")
    scene.work(run_id)
    expect(page.locator(".progress li").last).to_have_text("succeeded")
    expect(page.locator("#bar").get_by_text("Approve", exact=True)).to_have_count(0)


def test_a_new_request_appears_and_a_decided_one_leaves(scene: Scene, sign_in: SignIn) -> None:
    page = sign_in(scene.cast.bob)
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    scene.run()
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("nav .count")).to_contain_text("1")


def test_letters_open_the_confirmation_and_never_decide(scene: Scene, sign_in: SignIn) -> None:
    run_id = scene.run()
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    page = sign_in(scene.cast.bob)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-row] a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/approvals/{request_id}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    for letter in "aaaa":
        page.keyboard.press(letter)
    expect(page.get_by_role("heading", name="Approve this call?")).to_be_visible()
    expect(page.get_by_label("It cannot be undone")).to_have_value("aaa")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Approve this call?")).to_be_hidden()
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Reject this call")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Reject this call")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    page.locator("details.account summary").click()
    with page.expect_response("**/session/preference"):
        page.locator("form[data-preference=keys]").get_by_role("button", name="Off").click()
    page.reload()
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Approve this call?")).to_be_hidden()
    assert request_of(scene.cast.bob.actor, request_id).request.version == 1


def test_a_link_that_says_it_is_a_button_opens_by_space_too(scene: Scene, sign_in: SignIn) -> None:
    run_id = scene.run()
    page = sign_in(scene.cast.bob)
    page.goto(f"/approvals/{queries.run(scene.cast.bob.actor, run_id).open_approvals[0]}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    opener = page.get_by_role("button", name="Reject")
    opener.press("Space")
    expect(page.get_by_role("heading", name="Reject this call")).to_be_visible()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


def test_folded_values_lock_the_approval_until_opened(scene: Scene, sign_in: SignIn) -> None:
    run_id = scene.run(note="x" * 5000)
    page = sign_in(scene.cast.bob)
    page.goto(f"/approvals/{queries.run(scene.cast.bob.actor, run_id).open_approvals[0]}")
    page.get_by_role("button", name="Approve").click()
    button = page.get_by_role("dialog").get_by_role("button", name="Approve")
    expect(button).to_be_disabled()
    page.keyboard.press("Escape")
    page.locator("details[data-fold] summary").click()
    page.get_by_role("button", name="Approve").click()
    expect(button).to_be_enabled()


def test_what_a_person_opened_stays_open_and_in_focus_while_the_run_goes_on(scene: Scene, sign_in: SignIn) -> None:
    run_id = scene.run(note="x" * 5000)
    view = request_of(scene.cast.bob.actor, queries.run(scene.cast.bob.actor, run_id).open_approvals[0])
    page = sign_in(scene.cast.alice)
    step = page.locator(f"#step-{view.request.step_id}")
    page.goto(f"/runs/{run_id}#step-{view.request.step_id}")
    expect(step).to_have_attribute("open", "")
    step.locator("[data-fold] > summary").click()
    expect(step.get_by_text("All 5002 bytes.")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    step.locator("> summary").focus()
    decide(scene.cast.bob.actor, view.request.id, verdict=Verdict.APPROVE, digest=view.request.digest)
    scene.work(run_id)
    expect(page.locator(".run-facts").get_by_text("succeeded")).to_be_visible()
    expect(step).to_have_attribute("open", "")
    expect(step.locator("> summary")).to_be_focused()
    expect(step.get_by_text("All 5002 bytes.")).to_be_visible()


def test_what_changed_before_the_socket_opened_is_shown(scene: Scene, sign_in: SignIn) -> None:
    page = sign_in(scene.cast.bob)

    def opened_late(route: WebSocketRoute) -> None:
        scene.run()
        route.connect_to_server()

    page.route_web_socket("**/ws", opened_late)
    page.reload()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.locator("[data-row]")).to_have_count(1)
