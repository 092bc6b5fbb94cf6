"""A worker that is alive keeps its call; one that is not loses it soon, however long the call may take."""

import threading
import time
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import InterfaceError, OperationalError, connections, transaction

from agentops.tenancy.ids import uuid7
from runs import inflight, leases
from runs.leases import Lease, renew
from runs.models import WorkItem
from runs.operations import claiming
from tests.runs.scenario import Stage

READ = [{"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}]


def _claimed(stage: Stage) -> tuple[UUID, Lease]:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    call = stage.claim_only(run_id)
    return run_id, Lease(call.tenant_id, call.run_id, call.step_id, call.token)


def test_a_heartbeat_moves_the_end_of_the_lease(stage: Stage) -> None:
    run_id, lease = _claimed(stage)
    before = stage.steps(run_id)[0].lease_until
    assert renew([lease]) == {lease.row_id}
    after = stage.steps(run_id)[0].lease_until
    assert before is not None
    assert after is not None
    assert after > before


@pytest.mark.parametrize("token", [0, 2])
def test_a_heartbeat_of_another_attempt_renews_nothing(stage: Stage, token: int) -> None:
    run_id, lease = _claimed(stage)
    before = stage.steps(run_id)[0].lease_until
    assert renew([Lease(lease.tenant_id, lease.run_id, lease.row_id, token)]) == set()
    assert stage.steps(run_id)[0].lease_until == before


def test_a_heartbeat_of_another_tenant_renews_nothing(stage: Stage) -> None:
    run_id, lease = _claimed(stage)
    assert renew([Lease(uuid7(), lease.run_id, lease.row_id, lease.token)]) == set()
    assert stage.statuses(run_id) == ["running"]


def test_a_heartbeat_never_waits_for_a_run_that_somebody_is_working_on(stage: Stage) -> None:
    run_id, lease = _claimed(stage)
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            WorkItem.objects.select_for_update().get(id=run_id)
            locked.set()
            done.wait(10)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(10)
    assert renew([lease]) == set()
    done.set()
    holder.join(10)
    assert renew([lease]) == {lease.row_id}


def test_a_long_call_outlives_its_first_lease_and_is_made_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "LONGEST_LEASE", timedelta(seconds=1.5))
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.5)
    monkeypatch.setattr(inflight, "BEAT_SECONDS", 0.3)
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    stage.world.gate = threading.Event()
    worker = threading.Thread(target=_work, args=[stage, run_id])
    worker.start()
    assert stage.world.entered.wait(10)
    first = stage.steps(run_id)[0].lease_until
    assert first is not None
    ends = time.monotonic() + 20
    while (now := stage.steps(run_id)[0].lease_until) is not None and now < first + timedelta(seconds=1.5):
        assert time.monotonic() < ends
        stage.work(run_id)
    stage.world.gate.set()
    worker.join(10)
    assert stage.run(run_id).status == "succeeded"
    assert stage.steps(run_id)[0].token == 1
    assert stage.world.reads == 1


@pytest.mark.parametrize("fault", [InterfaceError, OperationalError])
def test_a_broken_connection_does_not_end_the_watch(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    _, lease = _claimed(stage)
    tries: list[int] = []

    def renewed(leases: Iterable[Lease]) -> set[UUID]:
        tries.append(1)
        if len(tries) == 1:
            raise fault
        return renew(leases)

    monkeypatch.setattr(inflight, "renew", renewed)
    monkeypatch.setattr(inflight, "BEAT_SECONDS", 0.1)
    with inflight.watched(lease, time.monotonic() + 30):
        watcher, ends = inflight._watcher, time.monotonic() + 10
        while len(tries) < 3 and time.monotonic() < ends:
            time.sleep(0.05)
    assert len(tries) >= 3
    assert watcher is inflight._watcher


def _work(stage: Stage, run_id: UUID) -> None:
    stage.work(run_id)
    connections.close_all()
