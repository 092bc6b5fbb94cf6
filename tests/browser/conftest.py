"""A real uvicorn with our ASGI, and a real Chromium that looks at it."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.cast import PASSWORD, Person
from tests.web.scene import scene

__all__ = ["scene"]

# Playwright's synchronous API keeps an event loop in this thread; the tests' own queries run beside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTS_IN = 20.0


class Served:
    """The product on a port of its own; it can be taken away and brought back."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, and return once it answers."""
        config = uvicorn.Config("agentops.asgi:application", host="127.0.0.1", port=self.port, log_level="error")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        limit = time.monotonic() + STARTS_IN
        while not self.server.started and time.monotonic() < limit:
            time.sleep(0.02)
        assert self.server.started

    def stop(self) -> None:
        """Close every connection and stop listening."""
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(STARTS_IN)


@pytest.fixture(scope="session")
def served(database: None) -> Iterator[Served]:
    """The product, served for the session."""
    product = Served()
    product.start()
    yield product
    product.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of this machine, or Playwright's own."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser, served: Served) -> Iterator[BrowserContext]:
    """A browser of this test's own; an error in the page's code fails the test."""
    made = browser.new_context(base_url=served.url)
    faults: list[str] = []
    made.on("weberror", lambda error: faults.append(str(error.error)))
    made.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
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
