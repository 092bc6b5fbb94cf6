"""What a run costs the database: writing commits and statements, counted exactly (goal G1)."""

import json
from decimal import Decimal

from approvals.domain.decision import Verdict
from runs.operations.deciding import decide
from tests.runs.gates import TOOLS, new_gate
from tests.runs.scenario import Stage
from tests.statements import Heard, heard

READ = {"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}


def test_five_steps_and_one_approval_fit_the_goal(stage: Stage) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}
    look = {"tool": "t_page", "args": {"account": {"$cel": "input.account"}}}
    slug = stage.agent("five", [READ, look, pay, {**READ, "again": 1}, {**look, "again": 1}])
    bob, alice, counter = stage.cast.bob.actor, stage.cast.alice.actor, Heard()
    with heard(counter):
        run_id = stage.start(slug, by=alice, given={"account": stage.account})
        stage.work(run_id)
    request = stage.pending(run_id)
    with heard(counter):
        decide(bob, request.id, verdict=Verdict.APPROVE, digest=request.digest)
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded", stage.run(run_id).ended_because
    assert len(stage.steps(run_id)) == 5
    assert counter.commits <= 13, counter.commits
    assert len(counter.statements) <= 45, counter.statements
    assert counter.trips <= 25, counter.trips


def test_five_reads_fit_the_goal(stage: Stage) -> None:
    slug = stage.agent("five", [{**READ, "again": n} for n in range(5)])
    counter = Heard()
    with heard(counter):
        run_id = stage.start(slug, given={"account": stage.account})
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert counter.commits <= 8, counter.commits
    assert len(counter.statements) <= 45, counter.statements


def test_money_is_counted_exactly_and_a_pending_request_holds_its_reservation(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay_priced", "args": {"account": stage.account, "amount": "700.07"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    assert stage.run(run_id).used.count('"money":"0"') == 1
    assert '"money":"700.07' in stage.run(run_id).reserved
    stage.approve(run_id)
    stage.work(run_id)
    run = stage.run(run_id)
    assert Decimal(json.loads(run.used)["money"]) == Decimal("700.07")
    assert Decimal(json.loads(run.reserved)["money"]) == 0


def test_a_workflow_costs_a_run_a_few_statements_more_and_no_commit(stage: Stage) -> None:
    gate = new_gate(stage)
    args = {"invoice": gate.invoice}
    moves = [{"tool": name, "args": args} for name in ("invoice_submit", "invoice_approve")]
    notes = [{"tool": "invoice_note", "args": args, "again": n} for n in range(2)]
    moving, free = stage.agent("moving", moves, tools=TOOLS), stage.agent("free", notes, tools=TOOLS)
    counted = []
    for slug, place in ((free, None), (moving, ("invoice", gate.handle))):
        counter = Heard()
        with heard(counter):
            run_id = stage.start(slug, workflow=place)
            stage.work(run_id)
        assert stage.run(run_id).status == "succeeded", stage.run(run_id).ended_because
        counted.append(counter)
    assert gate.where() == ("approved", 3)
    without, within = counted
    assert within.commits == without.commits
    assert len(within.statements) - len(without.statements) <= 18, within.statements
