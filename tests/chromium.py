"""The Chromium of this machine, or Playwright's own; where there is none, browser tests are reported as not run."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Playwright, expect, sync_playwright

from tests.missing import not_here

FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file."""
    # Playwright's synchronous API keeps an event loop in this thread: the tests' own queries run beside it, and
    # asynchronous tests cannot run before it ends.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    # Two cores that also run Postgres, a worker and a web server are slow at times; a page is never late on purpose.
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        chromium = _launched(playwright)
        yield chromium
        chromium.close()


def _launched(playwright: Playwright) -> Browser:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        return playwright.chromium.launch(executable_path=path, args=FLAGS)
    except Error as error:
        if path is None:
            not_here(f"no Chromium was found: {error.message.splitlines()[0]}")
        raise


def watched(context: BrowserContext) -> list[str]:
    """The faults of the pages' own code, as they come."""
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    return faults
