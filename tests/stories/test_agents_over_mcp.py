"""Other people's SDKs at the MCP door: they list, call, are held, and get the result once a person approved it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.stories.office import Office
from tests.stories.programs import Program
from tests.up import until

SDKS = ("python_sdk", "python_sdk legacy", "typescript_sdk", "langgraph", "openai_agents", "pydantic_ai")
type Connect = Callable[[float, float], Program]


@pytest.fixture(params=SDKS)
def connect(request: pytest.FixtureRequest, office: Office) -> Iterator[Connect]:
    """An agent by this SDK, with the service's key."""
    sdk, _, era = request.param.partition(" ")
    made: list[Program] = []

    def connected(hold: float, bears: float) -> Program:
        more = {"MCP_ERA": era} if era else {}
        made.append(Program(sdk, f"{office.url}/mcp", office.demo["api_key"], hold, bears, **more))
        return made[-1]

    yield connected
    for program in made:
        program.end()


@pytest.fixture(scope="module")
def bob(browser: Browser, office: Office) -> Iterator[Page]:
    """Who approves, signed in."""
    context = browser.new_context()
    page = context.new_page()
    office.sign_in(page, "approver")
    yield page
    context.close()


def approve(page: Page, url: str) -> None:
    """As bob does in the browser."""
    page.goto(url)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(page.locator(".progress")).to_be_visible()


def notes(office: Office, text: str) -> list[dict[str, str]]:
    """Those of this text in the ledger, as the tool tells of one."""
    rows = office.ledger.get("/notes").json()["results"]
    return [{"id": row["id"], "invoice": row["invoice_id"]} for row in rows if row["text"] == text]


def test_a_held_call_is_waited_for_and_its_result_comes_after_the_approval(
    connect: Connect, office: Office, bob: Page, request: pytest.FixtureRequest
) -> None:
    agent, text = connect(1, 60), request.node.name
    assert {"note_add", "payment_create", "approval_wait", "workflow_status"} <= set(agent.tools)
    call = {"invoice_id": "INV-1012", "text": text, "meta": {"n": 9007199254740991}}
    pending = agent.call("note_add", call)
    assert pending["status"] == "pending_approval"
    assert agent.call(pending["next"]["tool"], pending["next"]["arguments"])["status"] == "pending_approval"
    approve(bob, pending["approve_url"])
    told = until(lambda: _done(agent.call("approval_wait", pending["next"]["arguments"])), 120)
    assert agent.call("note_add", call) == told
    assert [told] == notes(office, text)


def test_a_call_outlives_the_time_out_of_its_client(
    connect: Connect, office: Office, bob: Page, request: pytest.FixtureRequest
) -> None:
    agent, text = connect(120, 4), request.node.name
    call = {"invoice_id": "INV-1013", "text": text, "meta": {}}
    assert "client_error" in agent.call("note_add", call)
    (waiting,) = [row for row in office.bob.get("/approvals").json()["results"] if row["args"].get("text") == text]
    approve(bob, f"{office.url}/approvals/{waiting['id']}")
    told = until(lambda: _done(agent.call("note_add", call)), 120)
    assert [told] == notes(office, text)


def _done(told: dict[str, Any]) -> dict[str, Any] | None:
    return None if "client_error" in told or "status" in told else told
