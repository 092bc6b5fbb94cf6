"""The pages on which a team is set up, wide and on a phone: axe finds nothing in light or dark, nothing is cut off."""

from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

from agentops.tenancy.transaction import tenant_transaction
from approvals.operations import set_policy
from runs import queries
from runs.operations.configuring import update_agent
from tests.browser.test_see_pages import PHONE, faults_of
from tests.browser.test_see_pages import WIDE as WIDE_SCREEN
from tests.cast import Person
from tests.served import Served
from tests.web.scene import Scene
from tools.queries import find_tool

WIDE = (
    "", "runs/agent/", "runs/agent/add/", "runs/teambudget/", "tools/tool/", "tools/tool/add/?kind=python",
    "tools/credential/add/", "approvals/policyversion/", "approvals/policyversion/add/", "tenancy/membership/",
    "tools/workflow/", "tools/workflow/add/", "tenancy/serviceaccount/add/", "tenancy/apikey/", "tenancy/apikey/add/",
)  # fmt: skip
NARROW = (
    "", "tools/tool/", "tools/tool/add/", "approvals/policyversion/add/", "tenancy/membership/add/", "tenancy/apikey/",
    "tenancy/apikey/add/", "runs/agent/add/", "tools/workflow/", "tools/workflow/add/",
)  # fmt: skip
CUT_OFF = """() => {
    const edge = part => part.getBoundingClientRect().right
    return [...document.querySelectorAll('input, select, textarea, button, a, label')]
        .filter(part => !part.closest('.results') && edge(part) > edge(part.closest('.module') ?? document.body))
        .map(part => 'cut off: ' + part.outerHTML.slice(0, 120))
}"""


def filled(scene: Scene) -> list[str]:
    """Pages of rows that have a history."""
    carol = scene.cast.carol.actor
    rule = {"name": "large", "when": "double(args.amount) > 1000.0", "effect": "require_approval", "quorum": 2}
    policy = set_policy(carol, preset="careful", rules=[rule])
    update_agent(carol, "office", budget={"steps": 9})
    with tenant_transaction(scene.cast.tenant.id):
        tool = find_tool(scene.cast.tenant.id, "scene_pay")
    agent = next(a for a in queries.agents(carol) if a.slug == "office")
    rows = {"runs/agent": agent.id, "tools/tool": tool.id, "approvals/policyversion": policy.id}
    member = scene.cast.bob.user.memberships.get()
    return [f"tenancy/membership/{member.pk}/delete/", *(f"{name}/{key}/change/" for name, key in rows.items())]


def test_no_page_of_the_administration_has_a_fault(
    scene: Scene, sign_in: Callable[[Person], Page], browser: Browser, served: Served
) -> None:
    state = sign_in(scene.cast.carol).context.storage_state()
    changes = filled(scene)
    faults: dict[str, list[str]] = {}
    for look, addresses in ((WIDE_SCREEN, (*WIDE, *changes)), (PHONE, (*NARROW, *changes))):
        context = browser.new_context(base_url=served.url, storage_state=state, reduced_motion="reduce", **look)
        page = context.new_page()
        for address in addresses:
            page.goto(f"/admin/{address}", timeout=120_000)
            if found := [*faults_of(page), *page.evaluate(CUT_OFF)]:
                faults[f"{look['viewport']['width']} {address}"] = found
        page.goto("/admin/runs/agent/add/")
        page.evaluate("document.querySelector('#agent_form').noValidate = true")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Please correct the errors below.")).to_be_visible()
        expect(page.locator('[aria-invalid="true"]').first).to_be_focused()
        if found := [*faults_of(page), *page.evaluate(CUT_OFF)]:
            faults[f"{look['viewport']['width']} errors"] = found
        context.close()
    assert faults == {}
