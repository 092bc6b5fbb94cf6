from typing import Any

from tests.browser.test_see_pages import LOOKS, faults_of, thought_of


def test_shots(scene: Any, sign_in: Any, browser: Any, served: Any, settings: Any) -> None:
    run = thought_of(scene, settings)
    state = sign_in(scene.cast.carol).context.storage_state()
    bad = {}
    for n, look in enumerate(LOOKS):
        context = browser.new_context(base_url=served.url, storage_state=state, reduced_motion="reduce", **look)
        page = context.new_page()
        for name, address in (
            ("run", f"/runs/{run}"),
            ("call", f"/runs/{run}/model/3"),
            ("call1", f"/runs/{run}/model/1"),
            ("admin", "/admin/runs/agent/add/"),
        ):
            page.goto(address, timeout=120_000)
            page.screenshot(path=f"/tmp/own/{name}{n}.png", full_page=True)
            if f := faults_of(page):
                bad[f"{n}{name}"] = f
        context.close()
    assert bad == {}
