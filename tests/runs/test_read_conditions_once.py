"""Conditions are read once for a claim: neither a wrong wall clock nor slow readings make them old."""

import time
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from agentops.tenancy.ids import uuid7
from runs import probing
from runs.operations import advancing
from runs.operations.advancing import Execute, Probe
from tests.runs.scenario import Stage

PAY = [{"tool": "t_pay", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]


def _asks_to_read(stage: Stage) -> tuple[UUID, Probe]:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    found = advancing.begin("control", run_id, uuid7())
    assert isinstance(found, Probe)
    return run_id, found


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_worker_whose_clock_is_wrong_claims_after_one_reading(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    run_id, asked = _asks_to_read(stage)
    right: datetime = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: right + timedelta(hours=hours))
    found = advancing.resume(stage.tenant_id, run_id, uuid7(), readings=probing.read(asked.wanted))
    assert isinstance(found, Execute)


def test_conditions_that_took_long_to_read_are_not_read_again(stage: Stage) -> None:
    run_id, asked = _asks_to_read(stage)
    slow = [replace(r, read_at=r.read_at - timedelta(seconds=9)) for r in probing.read(asked.wanted)]
    assert isinstance(advancing.resume(stage.tenant_id, run_id, uuid7(), readings=slow), Execute)


def test_conditions_are_read_again_when_their_reader_slept(stage: Stage) -> None:
    run_id, asked = _asks_to_read(stage)
    old = [replace(r, taken=time.monotonic() - 6) for r in probing.read(asked.wanted)]
    assert isinstance(advancing.resume(stage.tenant_id, run_id, uuid7(), readings=old), Probe)
