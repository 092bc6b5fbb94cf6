"""A worker comes back from its call: it goes on with the run as it left it, unless somebody else wrote to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import Membership
from agentops.tenancy.transaction import tenant_transaction
from runs import ledger
from runs.book import Book
from runs.execution import perform
from runs.operations import advancing
from runs.operations.advancing import Execute, Next
from runs.operations.cancelling import cancel
from runs.operations.settling import Settled
from runs.rows import values_of
from tests.runs.scenario import Stage
from tests.statements import heard
from tools.domain.outcome import NotSent
from tools.models import Tool

READ = {"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}
PAY = {"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}


def _begun(stage: Stage, *steps: dict[str, Any], by: Any = None) -> tuple[UUID, Execute]:
    """A run whose first call is about to be made."""
    run_id = stage.start(stage.agent("calls", list(steps)), by=by, given={"account": stage.account})
    found = advancing.begin("control", run_id, uuid7())
    assert isinstance(found, Execute)
    return run_id, found


def _back(found: Execute) -> Next:
    """Make the call and come back."""
    call = found.call
    settled = Settled(call, perform(call))
    return advancing.resume(call.tenant_id, call.run_id, uuid7(), settled=settled, left=found.book)


@contextmanager
def _whole_reads() -> Iterator[list[str]]:
    """The statements that read everything about a run."""
    seen: list[str] = []
    with heard() as all_of_them:
        yield seen
        seen += [sql for sql in all_of_them.statements if "FROM runs_step s" in sql and "'proposals'" in sql]


def test_a_run_is_read_once_however_many_calls_follow_each_other(stage: Stage) -> None:
    slug = stage.agent("calls", [{**READ, "again": n} for n in range(4)])
    run_id = stage.start(slug, given={"account": stage.account})
    with _whole_reads() as seen:
        stage.work(run_id)
    assert stage.statuses(run_id) == ["succeeded"] * 4
    assert len(seen) == 1


def test_what_was_left_is_what_the_database_holds(stage: Stage) -> None:
    run_id, first = _begun(stage, READ, {**READ, "again": 1}, PAY)
    second = _back(first)
    assert isinstance(second, Execute)
    with _whole_reads() as seen, ledger.opened_run(stage.tenant_id, run_id, second.book) as left:
        pass
    with ledger.opened_run(stage.tenant_id, run_id) as whole:
        pass
    assert seen == []
    assert _rows(left) == _rows(whole)
    assert (left.rights, left.policy, left.tools) == (whole.rights, whole.policy, whole.tools)
    assert (left.tenant_slug, left.tenant_active) == (whole.tenant_slug, whole.tenant_active)


def _rows(book: Book) -> dict[str, Any]:
    rows = [book.run, book.work, book.agent, *book.steps, *book.proposals.values(), *book.attempts.values()]
    return {f"{type(row).__name__} {row.pk}": _without_state(values_of(row)) for row in rows}


def _without_state(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "_state"}


def test_a_run_that_was_cancelled_during_the_call_is_read_again_and_ends(stage: Stage) -> None:
    run_id, found = _begun(stage, READ, PAY)
    cancel(stage.cast.alice.actor, run_id, reason="changed my mind")
    _back(found)
    assert stage.run(run_id).status == "cancelled"
    assert stage.statuses(run_id) == ["succeeded"]


def test_a_tool_that_was_disabled_during_the_call_is_not_called_next(stage: Stage) -> None:
    run_id, found = _begun(stage, READ, {**READ, "again": 1})
    with tenant_transaction(stage.tenant_id):
        Tool.objects.filter(name="t_read").update(enabled=False)
    _back(found)
    assert stage.statuses(run_id) == ["succeeded", "refused"]


def test_a_person_who_left_during_the_call_has_no_further_one_made(stage: Stage) -> None:
    run_id, found = _begun(stage, READ, {**READ, "again": 1})
    Membership.objects.filter(tenant_id=stage.tenant_id, user=stage.cast.alice.user).delete()
    _back(found)
    assert stage.statuses(run_id) == ["succeeded", "refused"]


def test_an_approved_call_that_was_not_sent_is_taken_up_again_without_asking_anew(stage: Stage) -> None:
    run_id = stage.start(stage.agent("pays", [PAY]), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    found = advancing.begin("control", run_id, uuid7())
    assert isinstance(found, Execute)
    settled = Settled(found.call, NotSent("It was too late."))
    again = advancing.resume(stage.tenant_id, run_id, uuid7(), settled=settled, left=found.book)
    assert isinstance(again, Execute)
    assert again.call.token == 2
    assert [request.status for request in stage.requests(run_id)] == ["approved"]
