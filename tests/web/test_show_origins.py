"""A request's page says where each value of the call stands in what the run was given or had read."""

from runs import queries
from tests.runs.scenario import new_stage
from tests.web.scene import Scene
from tests.web.test_decide_requests import Browse, waiting


def origin_card(page: str) -> str:
    return page.split('aria-labelledby="origin-title"')[1].split("</section>", maxsplit=1)[0]


def test_the_page_says_where_each_value_stands_and_what_untrusted_text_was_read(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    page = browse(scene.cast.bob).get(f"/approvals/{waiting(scene, run_id)}").content.decode()
    card = origin_card(page)
    doubtful, *others = card.split('<span class="path exact__key">')[1:]
    amount, account, invoice = doubtful, *others[:2]
    assert ">amount</bdi>" in amount
    assert ">account</bdi>" in account
    assert "the run's input" in account
    assert "the same value" in account
    assert "untrusted" not in account
    read = queries.steps(scene.cast.bob.actor, run_id)[0].step
    assert f'href="/runs/{run_id}#step-{read.id}">step 1</a>' in amount
    assert "pill-untrusted" in amount
    assert "the task" in invoice
    assert "<mark>" in invoice
    assert "1 value from untrusted text alone" in card
    assert "a value may come from it in another form" in card


def test_a_value_that_nothing_holds_is_the_planners_own(scene: Scene, browse: Browse) -> None:
    stage = new_stage(scene.cast)
    run_id = stage.outside()
    stage.propose(run_id, stage.pay("731"))
    page = browse(scene.cast.bob).get(f"/approvals/{stage.pending(run_id).id}").content.decode()
    assert "the planner's own" in origin_card(page)
    assert "had read no untrusted text" in origin_card(page)
