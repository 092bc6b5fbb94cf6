"""What a stranger does in a browser after `make up`: bob decides, alice may not, mallory sees nothing."""

import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chromium import watched
from tests.stories.bank import Bank
from tests.stories.office import Office
from tests.up import Up

type SignIn = Callable[[str], Page]


@pytest.fixture
def sign_in(browser: Browser, office: Office) -> Iterator[SignIn]:
    """A page on which somebody of demo.json signed in; a fault in a page's code fails the test."""
    contexts, faults = [], []

    def signed_in(who: str) -> Page:
        context = browser.new_context(base_url=office.url)
        contexts.append(context)
        faults.append(watched(context))
        page = context.new_page()
        office.sign_in(page, who)
        return page

    yield signed_in
    for context in contexts:
        context.close()
    assert [fault for found in faults for fault in found] == []


def opened(page: Page, office: Office, run: str) -> None:
    """The request of this run that waits, on a page that is live."""
    page.goto(f"/approvals/{office.asked(run)['id']}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()


def approve(page: Page) -> None:
    """As a person does: read the target, type it, approve."""
    page.get_by_role("button", name="Approve").click()
    page.get_by_label("It cannot be undone").fill(page.locator("#approve .target").inner_text())
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()


def mark(page: Page) -> None:
    """Remember that this page was loaded before what follows."""
    page.evaluate("window.loadedOnce = true")


def is_marked(page: Page) -> bool:
    """Whether it was not loaded again since."""
    return bool(page.evaluate("window.loadedOnce === true"))


def test_bob_sees_every_input_approves_and_watches_it_go_through(
    office: Office, up: Up, bank: Bank, sign_in: SignIn
) -> None:
    office.employ(bank, "bank_wire", "POST", "destructive", timeout_ms=20_000)
    run = office.call("bank_wire", 9007199254740993)
    page = sign_in("approver")
    opened(page, office, run)
    expect(page.locator("#panel-fields")).to_contain_text("9007199254740993")
    worker, stages = up.part("worker"), page.locator(".progress li.now")
    bank.hold()
    worker.send_signal(signal.SIGSTOP)
    try:
        approve(page)
        expect(stages).to_have_text("queued")
        mark(page)
    finally:
        worker.send_signal(signal.SIGCONT)
    expect(stages).to_have_text("executing")
    bank.let_go()
    expect(page.locator(".progress li").last).to_have_text("succeeded")
    assert is_marked(page)
    assert bank.seen.count("POST /bank_wire/9007199254740993") == 1


def test_the_waiting_payment_is_made_by_bob_and_not_by_alice(office: Office, sign_in: SignIn) -> None:
    alice, bob = sign_in("operator"), sign_in("approver")
    bob.get_by_role("link", name="Pay 12400.00").click()
    bob.wait_for_url("**/approvals/*")
    alice.goto(bob.url)
    for page in (alice, bob):
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
    mark(alice)
    expect(alice.get_by_role("button", name="Approve")).to_be_disabled()
    expect(alice.locator(".cannot")).to_contain_text("You asked for this")
    for exact in ("INV-0901", "12400.00", "EUR", "GB29 NWBK 6016 1331 9268 19"):
        expect(bob.locator("#panel-fields")).to_contain_text(exact)

    approve(bob)
    for page in (bob, alice):
        expect(page.locator(".progress li").last).to_have_text("succeeded")
    assert is_marked(alice)
    assert len(office.payments("INV-0901")) == 1


def test_mallory_cannot_see_it(office: Office, browser: Browser) -> None:
    run = office.start("INV-1010").json()["id"]
    asked = office.asked(run)["id"]
    context = browser.new_context(base_url=office.url)
    for path in (f"/approvals/{asked}", f"/runs/{run}"):
        page = context.new_page()
        page.goto(path)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    context.close()
    for path in (f"/approvals/{asked}", f"/runs/{run}", f"/runs/{run}/steps", f"/runs/{run}/events"):
        assert office.mallory.get(path).status_code == 404
    assert run not in office.mallory.get("/runs").text


def test_an_invoice_changed_while_it_waits_is_asked_again_and_paid_once(office: Office, sign_in: SignIn) -> None:
    before = office.ledger.get("/invoices/INV-1011").json()["amount"]
    run = office.start("INV-1011").json()["id"]
    bob, clerk = sign_in("approver"), sign_in("admin")
    opened(bob, office, run)

    clerk.goto("/demo/ledger/")
    clerk.get_by_role("link", name="INV-1011").click()
    clerk.get_by_label("Amount").fill("13950.00")
    clerk.get_by_role("button", name="Save").click()
    expect(clerk.get_by_text("The invoice was changed.")).to_be_visible()

    approve(bob)
    expect(bob.get_by_text("The world changed, so this was asked again.")).to_be_visible()
    expect(bob.locator("#standing")).to_contain_text(before)
    expect(bob.locator("#standing")).to_contain_text("13950.00")
    assert office.payments("INV-1011") == []

    bob.get_by_role("link", name="Open the new request").click()
    expect(bob.locator("#panel-fields")).to_contain_text(before)
    expect(bob.get_by_text("Live", exact=True)).to_be_visible()
    approve(bob)
    expect(bob.locator(".progress li").last).to_have_text("succeeded")
    (payment,) = office.payments("INV-1011")
    assert payment["amount"] == before
    assert payment["idempotency_key"] == office.step(run, "payment_create")["idempotency_key"]
    assert office.finish(run)["status"] == "succeeded"
