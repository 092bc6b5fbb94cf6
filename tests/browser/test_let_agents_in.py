"""A person lets an outside agent in with a real browser, which ends at the agent's own address."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_see_pages import PHONE, WIDE, faults_of
from tests.cast import Person
from tests.oauth.party import Outside, let_in
from tests.served import Served
from tests.web.scene import Scene


@pytest.fixture
def listening() -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """The agent's own address on this machine, and what it was told there."""
    heard: list[dict[str, list[str]]] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if urlsplit(self.path).path == "/callback":
                heard.append(parse_qs(urlsplit(self.path).query))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Back</title><h1>Back at the agent</h1>")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Listening)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/callback", heard
    server.shutdown()
    thread.join()
    server.server_close()


def test_who_allows_in_a_browser_is_led_back_to_the_agent_and_ends_it_in_the_settings(
    scene: Scene,
    sign_in: Callable[[Person], Page],
    served: Served,
    listening: tuple[str, list[dict[str, list[str]]]],
) -> None:
    address, heard = listening
    agent = Outside(served.url, name="Claude Code")
    page = sign_in(scene.cast.alice)
    page.goto(agent.address(redirect_uri=address))
    expect(page.get_by_role("heading", name="Claude Code wants to act for you")).to_be_visible()
    page.get_by_label("Pay an invoice").check()
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("heading", name="Back at the agent")).to_be_visible()
    tokens = agent.exchange(heard[0]["code"][0], redirect_uri=address).json()
    assert tokens["scope"] == "ledger:read ledger:write runs:read runs:write"
    assert agent.call(tokens["access_token"]).status_code == 200
    page.goto("/settings/agents")
    page.get_by_role("button", name="End access…").click()
    page.get_by_role("button", name="End it").click()
    expect(page.get_by_text("No outside agent is let in.")).to_be_visible()
    assert agent.call(tokens["access_token"]).status_code == 401


def test_who_denies_in_a_browser_is_led_back_too(
    scene: Scene,
    sign_in: Callable[[Person], Page],
    served: Served,
    listening: tuple[str, list[dict[str, list[str]]]],
) -> None:
    address, heard = listening
    page = sign_in(scene.cast.alice)
    page.goto(Outside(served.url).address(redirect_uri=address))
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", name="Back at the agent")).to_be_visible()
    assert heard[0]["error"] == ["access_denied"]


@pytest.mark.parametrize("look", [WIDE, PHONE], ids=["wide", "phone"])
def test_neither_the_question_nor_the_list_has_a_fault(
    scene: Scene, sign_in: Callable[[Person], Page], browser: Browser, served: Served, look: dict[str, Any]
) -> None:
    agent = Outside(served.url, name="Claude Code \u202e" + "with a long name " * 4)
    state = sign_in(scene.cast.alice).context.storage_state()
    context = browser.new_context(base_url=served.url, storage_state=state, reduced_motion="reduce", **look)
    page = context.new_page()
    faults: dict[str, list[str]] = {}
    for asked in (agent.address(), agent.address(client_id="nobody")):
        page.goto(asked)
        faults[asked] = faults_of(page)
    let_in(agent, scene.cast.alice)
    page.goto("/settings/agents")
    faults["/settings/agents"] = faults_of(page)
    page.get_by_role("button", name="End access…").click()
    faults["the dialog"] = faults_of(page)
    context.close()
    assert {address: found for address, found in faults.items() if found} == {}
