"""A real uvicorn with our ASGI, and a real Chromium that looks at it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.cast import PASSWORD, Cast, Person
from tests.chromium import watched
from tests.served import Served
from tests.web.scene import Scene, build

_WORKER = ThreadPoolExecutor(1)


class Elsewhere(Scene):
    """The office, whose work is done in another thread: Playwright keeps an event loop in this one."""

    def run(self, account: str = "DE02 1203 0000 0000 2020 51", **meta: Any) -> UUID:
        """As the office does it."""
        return _WORKER.submit(Scene(self.cast).run, account, **meta).result()

    def work(self, run_id: UUID) -> None:
        """As the office does it."""
        self.begin(run_id).result()

    def begin(self, run_id: UUID) -> Future[None]:
        """The same, without waiting for its end."""
        return _WORKER.submit(Scene(self.cast).work, run_id)


@pytest.fixture
def scene(cast: Cast) -> Elsewhere:
    """The office of this test."""
    return Elsewhere(build(cast).cast)


@pytest.fixture
def context(browser: Browser, served: Served) -> Iterator[BrowserContext]:
    """A browser of this test's own; an error in the page's code fails the test."""
    made = browser.new_context(base_url=served.url)
    faults = watched(made)
    yield made
    made.close()
    assert faults == []


@pytest.fixture
def sign_in(context: BrowserContext) -> Callable[[Person], Page]:
    """A page on which somebody signed in."""

    def signed_in(person: Person) -> Page:
        page = context.new_page()
        page.goto("/account/login/")
        page.get_by_label("Email").fill(person.user.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/inbox")
        return page

    return signed_in
