"""The pages on which a team is set up, light and dark, wide and on a phone: axe finds nothing, nothing overflows."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from agentops.tenancy.transaction import tenant_transaction
from approvals.operations import set_policy
from runs import queries
from runs.operations.configuring import update_agent
from tests.browser.conftest import Served
from tests.browser.test_see_pages import LOOKS, faults_of
from tests.cast import Person
from tests.web.scene import Scene
from tools.queries import find_tool

LISTS = ("runs/agent", "tools/tool", "tools/credential", "approvals/policyversion", "tenancy/membership",
         "tenancy/serviceaccount", "tenancy/apikey")  # fmt: skip


def administration(scene: Scene) -> list[str]:
    """Each list, each empty form, each filled one."""
    carol = scene.cast.carol.actor
    rule = {"name": "large", "when": "double(args.amount) > 1000.0", "effect": "require_approval", "quorum": 2}
    policy = set_policy(carol, preset="careful", rules=[rule])
    update_agent(carol, "office", budget={"steps": 9})
    with tenant_transaction(scene.cast.tenant.id):
        tool = find_tool(scene.cast.tenant.id, "scene_pay")
    agent = next(a for a in queries.agents(carol) if a.slug == "office")
    return [
        "/admin/", *(f"/admin/{name}/" for name in LISTS), *(f"/admin/{name}/add/" for name in LISTS),
        f"/admin/runs/agent/{agent.id}/change/", f"/admin/tools/tool/{tool.id}/change/",
        f"/admin/approvals/policyversion/{policy.id}/change/", "/admin/tools/tool/add/?kind=python",
    ]  # fmt: skip


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[3]], ids=["light", "dark phone"])
def test_no_page_of_the_administration_has_a_fault(
    scene: Scene, sign_in: Callable[[Person], Page], browser: Browser, served: Served, look: dict[str, Any]
) -> None:
    state = sign_in(scene.cast.carol).context.storage_state()
    page = browser.new_context(base_url=served.url, storage_state=state, reduced_motion="reduce", **look).new_page()
    faults: dict[str, list[str]] = {}
    for address in administration(scene):
        page.goto(address)
        if found := faults_of(page):
            faults[address] = found
    assert faults == {}
