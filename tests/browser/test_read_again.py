"""Whatever a page is told, and whenever, it ends with what the database says; the mark says when it could not."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from playwright.sync_api import Locator, Page, Request, Route, WebSocketRoute, expect

from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Verdict
from approvals.models import ApprovalRequest
from approvals.queries import request as request_of
from approvals.queries import requests
from runs import queries
from runs.operations.deciding import decide
from tests.browser.conftest import Elsewhere
from tests.cast import Person
from tests.served import Served
from tests.web.scene import Scene

type SignIn = Callable[[Person], Page]

CHANGED = '{"type": "row.changed", "kind": "approval", "id": ""}'


def test_a_page_that_is_told_of_missed_facts_reads_everything_again(scene: Scene, sign_in: SignIn) -> None:
    page, told = quiet(sign_in(scene.cast.bob))
    scene.run()
    told.send('{"type": "facts.missed"}')
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("nav .count")).to_contain_text("1")


def test_a_fact_that_comes_while_the_page_is_read_is_read_after_that(scene: Scene, sign_in: SignIn) -> None:
    page, told = quiet(sign_in(scene.cast.bob))
    held = Held(page, "**/inbox")
    told.send(CHANGED)
    read = held.read()
    before = read.fetch()
    scene.run()
    with page.expect_request("**/inbox/count"):
        told.send(CHANGED)
    read.fulfill(response=before)
    expect(page.locator("[data-row]")).to_have_count(1)


def test_a_fact_that_comes_just_before_an_answer_is_read_after_it(scene: Scene, sign_in: SignIn) -> None:
    page = sign_in(scene.cast.bob)
    page.clock.install()
    page, told = quiet(page)
    held = Held(page, "**/inbox")
    told.send(CHANGED)
    read = held.read()
    before = read.fetch()
    scene.run()
    page.clock.pause_at(page.evaluate("Date.now() + 60_000"))
    asked = page.locator("#rows").element_handle()
    told.send(CHANGED)
    read.fulfill(response=before)
    page.wait_for_function("node => !node.isConnected", arg=asked)
    page.clock.resume()
    expect(page.locator("[data-row]")).to_have_count(1)


def test_a_change_that_is_being_read_when_checked_conditions_arrive_is_read_after_that(
    scene: Scene, sign_in: SignIn
) -> None:
    run_id = scene.run()
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    with tenant_transaction(scene.cast.tenant.id):
        ApprovalRequest.objects.filter(id=request_id).update(checked_at=timezone.now() - timedelta(minutes=1))
    page, _ = quiet(sign_in(scene.cast.bob))
    standing, bar = is_read_into("standing"), is_read_into("bar")
    with page.expect_event("requestfinished", standing), page.expect_event("requestfinished", bar):
        page.goto(f"/approvals/{request_id}")
    checks, refresh = Held(page, "**/checks"), Held(page, f"**/approvals/{request_id}")
    page.get_by_role("button", name="Check again").click()
    before = checks.read().fetch()
    reject(scene, run_id)
    page.evaluate("dispatchEvent(new Event('online'))")
    after = refresh.read().fetch()
    shown = page.locator("#standing").element_handle()
    checks.read().fulfill(response=before)
    page.wait_for_function("node => !node.isConnected", arg=shown)
    refresh.read().fulfill(response=after)
    expect(page.locator("#standing")).to_contain_text("rejected")


def test_the_mark_is_stale_until_every_part_was_read(scene: Scene, sign_in: SignIn) -> None:
    page, told = quiet(sign_in(scene.cast.bob))
    rows, count = Held(page, "**/inbox"), Held(page, "**/inbox/count")
    scene.run()
    told.send(CHANGED)
    rows.read().abort()
    expect(mark(page)).to_contain_text("Stale since")
    count.read().continue_()
    expect(page.locator("nav .count")).to_contain_text("1")
    expect(mark(page)).to_contain_text("Stale since")
    expect(page.locator("[data-row]")).to_have_count(0)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(mark(page)).to_have_text("Live")


def test_after_a_gap_the_page_shows_what_the_database_says(scene: Elsewhere, sign_in: SignIn, served: Served) -> None:
    gone, _ = scene.run(), scene.run()
    page, _ = quiet(sign_in(scene.cast.bob))
    known = waiting(scene)
    assert shown(page) == known
    reads = Held(page, "**/inbox"), Held(page, "**/inbox/count")
    with served.away():
        expect(mark(page)).to_have_text("Reconnecting")
        scene.run()
        reject(scene, gone)
        page.evaluate("dispatchEvent(new Event('online'))")
        for held in reads:
            held.read().continue_()
        expect(mark(page)).to_contain_text("Stale since")
        assert shown(page) == known
    expect(mark(page)).to_have_text("Live")
    assert shown(page) == waiting(scene) != known


class Held:
    """The next read of a part of the page: the test answers it. The product answers the others."""

    def __init__(self, page: Page, address: str) -> None:
        self._page, self._reads = page, list[Route]()
        page.route(address, self._hold)

    def _hold(self, route: Route) -> None:
        if self._reads:
            route.continue_()
        self._reads.append(route)

    def read(self) -> Route:
        """It, once it comes."""
        while not self._reads:
            self._page.evaluate("0")
        return self._reads[0]


def quiet(page: Page) -> tuple[Page, WebSocketRoute]:
    """The Inbox once it was read after its first connection; it is told only what the test says."""
    sockets = list[WebSocketRoute]()

    def deaf(route: WebSocketRoute) -> None:
        route.connect_to_server().on_message(lambda _: None)
        sockets.append(route)

    page.route_web_socket("**/ws", deaf)
    rows, count, address = is_read("/inbox"), is_read("/inbox/count"), page.url
    # The first page reads itself, too, and only the other's reading is waited for.
    page.goto("about:blank")
    with page.expect_event("requestfinished", rows), page.expect_event("requestfinished", count):
        page.goto(address)
    expect(mark(page)).to_have_text("Live")
    return page, sockets[-1]


def is_read(path: str) -> Callable[[Request], bool]:
    """Whether the page asked for this part of itself."""
    return lambda request: request.url.endswith(path) and "hx-request" in request.headers


def is_read_into(part: str) -> Callable[[Request], bool]:
    """Whether the page asked for what it puts in this place."""
    return lambda request: request.headers.get("hx-target") == part


def mark(page: Page) -> Locator:
    """Live, Reconnecting, or Stale since when."""
    return page.locator("[data-live-mark]")


def shown(page: Page) -> list[str]:
    """The rows of the Inbox as they stand."""
    found: list[str] = page.locator("[data-row]").evaluate_all("rows => rows.map(row => row.id)")
    return found


def waiting(scene: Scene) -> list[str]:
    """What the database says, in the same order."""
    return [f"request-{view.request.id}" for view in requests(scene.cast.bob.actor).rows]


def reject(scene: Scene, run_id: UUID) -> None:
    """As bob does elsewhere."""
    bob = scene.cast.bob.actor
    request = request_of(bob, queries.run(bob, run_id).open_approvals[0]).request
    decide(bob, request.id, verdict=Verdict.REJECT, digest=request.digest, reason="no")
