"""A run's page leads to every request that its model was sent, as the model saw it, and to nobody else's."""

from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking
from tests.tools.server import answering


def test_each_request_is_shown_with_its_prompt_its_answer_and_its_price(stage: Thinking) -> None:
    prices = {"input": "1", "output": "2", "currency": "EUR"}
    with model_serving(
        answering(503, b"busy"), calling(("t_page", {"account": stage.account}), text="I look <b>now</b>."),
        saying("All is well."),
    ) as server:  # fmt: skip
        run_id = stage.thinker(server, prices=prices, instructions="Be brief.")
        stage.work(run_id)
        stage.again(run_id)
    alice = stage.cast.alice.signed_in()
    page = alice.get(f"/runs/{run_id}").content.decode()
    for number in (1, 2, 3):
        assert f'href="/runs/{run_id}/model/{number}"' in page
    assert "http_503" in page
    assert "0.00014 EUR" in page
    first = alice.get(f"/runs/{run_id}/model/2").content.decode()
    assert "Be brief." in first
    assert "I look &lt;b&gt;now&lt;/b&gt;." in first
    second = alice.get(f"/runs/{run_id}/model/3").content.decode()
    assert "&lt;script&gt;" in second
    assert "&lt;untrusted " in second
    assert "All is well." in second
    assert alice.get(f"/runs/{run_id}/model/4").status_code == 404
    assert stage.cast.mallory.signed_in().get(f"/runs/{run_id}/model/1").status_code == 404


def test_a_run_of_another_planner_has_no_such_part(stage: Thinking) -> None:
    run_id = stage.start(stage.agent("reader", [{"tool": "t_read", "args": {"account": stage.account}}]))
    stage.work(run_id)
    assert "What its model was asked" not in stage.cast.alice.signed_in().get(f"/runs/{run_id}").content.decode()
