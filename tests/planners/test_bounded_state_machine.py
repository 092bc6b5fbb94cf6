"""The validator of “A tool-using agent is a bounded state machine”, as it is printed there, driven by a model.

Two things differ, as semantics.md says: a fingerprint holds more than name and arguments, and a repeated read is
answered from its earlier observation instead of being refused.
"""

from uuid import UUID

from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking
from tests.tools.server import Behaviour


def _run(stage: Thinking, *answers: Behaviour, steps: int = 2, tools: tuple[str, ...] = ("t_read",)) -> UUID:
    with model_serving(*answers) as server:
        run_id = stage.thinker(server, budget={"steps": steps}, tools=tools)
        stage.work(run_id)
    return run_id


def test_tool_denied(stage: Thinking) -> None:
    run_id = _run(stage, calling(("delete", {})), saying("Then not."))
    (step,) = stage.steps(run_id)
    assert (step.status, stage.refusal(step)["code"]) == ("refused", "tool_denied")


def test_step_budget(stage: Thinking) -> None:
    run_id = _run(stage, *[calling(("t_read", {"account": stage.account}))] * 3)
    run = stage.run(run_id)
    assert (run.turns, run.status, run.terminal_reason) == (2, "exhausted", "step_budget")


def test_a_finish_is_ok_below_the_limit(stage: Thinking) -> None:
    run = stage.run(_run(stage, saying("Done."), steps=1))
    assert (run.status, run.answer) == ("succeeded", "Done.")


def test_repeated_action(stage: Thinking) -> None:
    pay = ("t_pay_plain", {"account": stage.account, "amount": "5"})
    swapped = ("t_pay_plain", {"amount": "5", "account": stage.account})
    run_id = _run(stage, calling(pay, swapped), steps=5, tools=("t_read", "t_pay_plain"))
    held, repeated = stage.steps(run_id)
    assert (held.status, stage.refusal(repeated)["code"]) == ("held", "repeated_action")
    assert stage.refusal(repeated)["earlier_step"] == str(held.id)


def test_ok_with_a_fingerprint(stage: Thinking) -> None:
    read = calling(("t_read", {"account": stage.account}))
    run_id = _run(stage, read, read, saying("Done."), steps=3)
    first, second = stage.steps(run_id)
    assert first.fingerprint == second.fingerprint
    assert (first.status, second.status, stage.world.reads) == ("succeeded", "succeeded", 1)
