"""A model is shown the tools of the state that its run's workflow is in, and a name that it guesses is refused."""

from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking
from tests.runs.gates import TOOLS, new_gate


def test_the_list_of_tools_follows_the_workflow(stage: Thinking) -> None:
    gate = new_gate(stage)
    args = {"invoice": gate.invoice}
    with model_serving(
        calling(("invoice_discharge", args)), calling(("invoice_submit", args)), calling(("invoice_approve", args)),
        saying("Approved."),
    ) as server:  # fmt: skip
        run_id = stage.thinker(server, tools=TOOLS, by=stage.cast.service.actor, workflow=("invoice", gate.handle))
        stage.work(run_id)
        shown = [[tool["function"]["name"].removeprefix("invoice_") for tool in p["tools"]] for p in server.prompts]
        assert "state_forbidden" in server.said(1)
    draft = ["note", "submit"]
    assert shown == [draft, draft, ["approve", "note", "reject"], ["discharge", "note"]]
    assert gate.office.called == ["invoice_submit", "invoice_approve"]
    assert stage.run(run_id).answer == "Approved."
