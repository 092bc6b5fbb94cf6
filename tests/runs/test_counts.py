"""What a run costs the database: writing commits and statements, counted exactly (goal G1)."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from agentops.postgres.trip import Statement
from approvals.domain.decision import Verdict
from runs.operations.deciding import decide
from tests.runs.gates import TOOLS, new_gate
from tests.runs.scenario import Stage

READ = {"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}


class Counter:
    """Statements of this thread's connection, transactions that wrote, and trips of several statements."""

    def __init__(self) -> None:
        self.statements = 0
        self.commits = 0
        self.trips = 0
        self._wrote = False

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        self.count(sql)
        return execute(sql, params, many, context)

    def count(self, sql: str) -> None:
        self.statements += 1
        if any(word in sql for word in ("INSERT INTO", 'UPDATE "', "DELETE FROM")):
            self._wrote = True

    def committed(self) -> None:
        self.commits += self._wrote
        self._wrote = False


@contextmanager
def counting(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Counts on the real connection; a commit counts when its transaction wrote."""
    backend: Any = connection
    # Where every commit goes through, and all that travels together.
    commit, travel = backend._commit, backend._travel

    def counted_commit() -> None:
        commit()
        counter.committed()

    def counted_travel(statements: Sequence[Statement]) -> list[bytes | None]:
        for sql, _ in [*backend._queued, *statements]:
            if sql != "COMMIT":
                counter.count(sql)
        counter.trips += 1
        answers: list[bytes | None] = travel(statements)
        return answers

    with monkeypatch.context() as patched, connection.execute_wrapper(counter):
        patched.setattr(connection, "_commit", counted_commit)
        patched.setattr(connection, "_travel", counted_travel)
        yield


def test_five_steps_and_one_approval_fit_the_goal(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}
    look = {"tool": "t_page", "args": {"account": {"$cel": "input.account"}}}
    slug = stage.agent("five", [READ, look, pay, {**READ, "again": 1}, {**look, "again": 1}])
    bob, alice, counter = stage.cast.bob.actor, stage.cast.alice.actor, Counter()
    with counting(counter, monkeypatch):
        run_id = stage.start(slug, by=alice, given={"account": stage.account})
        stage.work(run_id)
    request = stage.pending(run_id)
    with counting(counter, monkeypatch):
        decide(bob, request.id, verdict=Verdict.APPROVE, digest=request.digest)
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded", stage.run(run_id).ended_because
    assert len(stage.steps(run_id)) == 5
    assert counter.commits <= 13, counter.commits
    assert counter.statements <= 45, counter.statements
    assert counter.trips <= 22, counter.trips


def test_five_reads_fit_the_goal(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = stage.agent("five", [{**READ, "again": n} for n in range(5)])
    counter = Counter()
    with counting(counter, monkeypatch):
        run_id = stage.start(slug, given={"account": stage.account})
        stage.work(run_id)
    assert stage.run(run_id).status == "succeeded"
    assert counter.commits <= 8, counter.commits
    assert counter.statements <= 45, counter.statements


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


def test_a_workflow_costs_a_run_a_few_statements_more_and_no_commit(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = new_gate(stage)
    args = {"invoice": gate.invoice}
    moves = [{"tool": name, "args": args} for name in ("invoice_submit", "invoice_approve")]
    notes = [{"tool": "invoice_note", "args": args, "again": n} for n in range(2)]
    moving, free = stage.agent("moving", moves, tools=TOOLS), stage.agent("free", notes, tools=TOOLS)
    counted = []
    for slug, place in ((free, None), (moving, ("invoice", gate.handle))):
        counter = Counter()
        with counting(counter, monkeypatch):
            run_id = stage.start(slug, workflow=place)
            stage.work(run_id)
        assert stage.run(run_id).status == "succeeded", stage.run(run_id).ended_because
        counted.append(counter)
    assert gate.where() == ("approved", 3)
    without, within = counted
    assert within.commits == without.commits
    assert within.statements - without.statements <= 18, (without.statements, within.statements)
