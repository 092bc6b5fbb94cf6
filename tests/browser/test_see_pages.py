"""Every page, in light, dark and on a phone: axe finds nothing, nothing overflows, no script fails."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings

from approvals.domain.decision import Verdict
from approvals.queries import request as request_of
from runs import queries
from runs.domain.planning import ToolProposal
from runs.operations.deciding import decide
from runs.operations.rechecking import recheck
from tests.cast import Person
from tests.model_server import calling, model_serving, saying
from tests.runs.gates import new_gate
from tests.runs.scenario import Stage, new_stage
from tests.served import Served
from tests.tools.server import answering
from tests.web.scene import INVOICES, Scene

WIDE: dict[str, Any] = {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {"color_scheme": "light", "viewport": {"width": 390, "height": 800}}
SETTLED = """() => Promise.allSettled(
    document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished))"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]
"""What axe looks at that may differ between light and dark."""

OUT_OF_SIGHT = """() => {
    const shown = box => box.closest('.scroll-x').getBoundingClientRect()
    return [...document.querySelectorAll('.machine:not(.workflow) .present')]
        .filter(box => box.getBoundingClientRect().right > shown(box).right + 1
            || box.getBoundingClientRect().left < shown(box).left - 1)
        .map(box => 'out of sight: ' + box.textContent)
}"""


def addresses(scene: Scene, thought: UUID) -> list[str]:
    """One of everything: waiting, hostile, changed, done, planned by a model (`thought`), and each list full."""
    bob = scene.cast.bob.actor
    done = scene.run()
    view = request_of(bob, queries.run(bob, done).open_approvals[0])
    decide(bob, view.request.id, verdict=Verdict.APPROVE, digest=view.request.digest)
    scene.work(done)
    hostile = scene.run(account="DE02 1203\u200b 0000\u202e", note="<b>bold</b>" * 200, big=2512292042121000001)
    changed = scene.run()
    asked = queries.run(bob, changed).open_approvals[0]
    INVOICES[request_of(bob, asked).snapshot["args"]["invoice_id"]] = "13950.00"
    time.sleep(2)  # a re-check sooner than that is refused
    recheck(bob, asked)
    waits = queries.run(bob, hostile).open_approvals[0]
    refused = request_of(bob, queries.run(bob, scene.run()).open_approvals[0]).request
    decide(bob, refused.id, verdict=Verdict.REJECT, digest=refused.digest, reason="Not known to us.")
    return [
        "/inbox", "/inbox?tab=unknown", "/inbox?tab=decided", f"/approvals/{waits}",
        f"/approvals/{waits}?step=approve", f"/approvals/{waits}?step=reject", f"/approvals/{asked}",
        f"/approvals/{view.request.id}", f"/approvals/{refused.id}", "/inbox?tab=pending&q=none",
        "/runs?q=none", "/runs", f"/runs/{hostile}",
        f"/runs/{thought}", f"/runs/{thought}/model/1", f"/runs/{thought}/model/3",
        f"/runs/{done}", f"/runs/{done}/events", "/tools", "/tools/scene_pay",
        "/settings", "/settings/keys", "/nothing",
        "/account/password/change/", "/runs/start", "/demo/ledger/",
        "/workflows", "/workflows/invoice", "/workflows/invoice?state=review", f"/runs/{_gated(scene)}",
        *_command(scene),
    ]  # fmt: skip


def thought_of(scene: Scene, settings: Settings) -> UUID:
    """A run whose model looked, and met a fault of its provider."""
    call = calling(("scene_invoice", {"invoice_id": "INV-1"}), ("nothing", {"x": "y" * 300}), text="I look first.")
    with model_serving(saying(""), call, answering(503, b"busy")) as server:
        settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = server.host
        return scene.think(server.url)


def _gated(scene: Scene) -> UUID:
    """A run that its workflow has moved; in another thread, as Playwright keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(lambda: new_gate(new_stage(scene.cast)).at("review")).result()


def _command(scene: Scene) -> list[str]:
    """A command that waits for a person, and its tool."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(lambda: _asked(new_stage(scene.cast))).result()


def _asked(stage: Stage) -> list[str]:
    archive = {
        "name": "t_archive", "description": "Archives.", "kind": "command", "risk": "destructive",
        "required_scope": "ledger:write", "input_schema": {"type": "object", "properties": {"path": {}, "why": {}}},
        "command": {"argv": ["/usr/bin/tar", "--create", "--", "{args.path}", "{args.why}"], "stdin": "args"},
    }  # fmt: skip
    run_id = stage.outside(tools=[stage.tool(archive)])
    stage.propose(run_id, ToolProposal("t_archive", {"path": "a b/" * 60, "why": "first\nsecond\u202e"}))
    return [f"/approvals/{stage.pending(run_id).id}", "/tools/t_archive"]


def faults_of(page: Page) -> list[str]:
    """What axe says, in light and of the colours in dark, and what sticks out."""
    faults = _violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    faults += [f"in the dark: {fault}" for fault in _violations(page, OF_COLOUR)]
    page.emulate_media(color_scheme="light")
    faults += page.evaluate(OUT_OF_SIGHT)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return faults if wide <= 0 else [*faults, f"{wide} pixels too wide"]


def _violations(page: Page, rules: list[str]) -> list[str]:
    # What passes is told in full otherwise, which takes longer than finding out.
    found = Axe().run(page, options={"runOnly": rules, "resultTypes": ["violations"]})
    return [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in found.response["violations"]]


@pytest.mark.parametrize("look", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_page_has_a_fault(
    scene: Scene, sign_in: Callable[[Person], Page], browser: Browser, served: Served, settings: Settings,
    look: dict[str, Any],
) -> None:  # fmt: skip
    pages = addresses(scene, thought_of(scene, settings))
    state = sign_in(scene.cast.carol).context.storage_state()
    context = browser.new_context(base_url=served.url, storage_state=state, reduced_motion="reduce", **look)
    page = context.new_page()
    faults: dict[str, list[str]] = {}
    page.on("pageerror", lambda error: faults.setdefault(page.url, []).append(str(error)))
    for address in pages:
        page.goto(address)
        if found := faults_of(page):
            faults.setdefault(address, []).extend(found)
    page.goto("/inbox")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
    if found := faults_of(page):
        faults.setdefault("palette", []).extend(found)
    signed_out = browser.new_context(base_url=served.url, **look).new_page()
    for address in ("/account/login/", "/account/password/reset/"):
        signed_out.goto(address)
        assert faults_of(signed_out) == []
    signed_out.goto("/account/login/")
    signed_out.get_by_label("Email").fill("nobody@example.com")
    signed_out.get_by_label("Password").fill("wrong")
    signed_out.get_by_role("button", name="Sign in").click()
    expect(signed_out.get_by_role("alert")).to_be_visible()
    assert faults_of(signed_out) == []
    assert faults == {}
