"""One changed byte, a removed row, a reordered row: each is found in every log, and named."""

from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from agentops.tenancy.ids import uuid7
from agentops.tenancy.keys import create_key
from tests.api.conftest import Caller
from tests.cast import Cast
from tests.runs.scenario import Stage

_REORDERED = """
UPDATE {log} SET seq = 1000 WHERE {whose} AND seq = 2;
UPDATE {log} SET seq = 2 WHERE {whose} AND seq = 3;
UPDATE {log} SET seq = 3 WHERE {whose} AND seq = 1000
"""
_ADDED = """
INSERT INTO {log} SELECT (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'seq', seq + 1))).*
FROM {log} l WHERE {whose} ORDER BY seq DESC LIMIT 1
"""
TAMPERED = [
    ("UPDATE {log} SET data = overlay(data placing 'X' from 3 for 1) WHERE {whose} AND seq = 3", 3),
    ("UPDATE {log} SET actor = 'somebody else' WHERE {whose} AND seq = 2", 2),
    ("UPDATE {log} SET at = at + interval '1 microsecond' WHERE {whose} AND seq = 4", 4),
    ("UPDATE {log} SET hash = repeat('0', 64) WHERE {whose} AND seq = 1", 1),
    ("DELETE FROM {log} WHERE {whose} AND seq = 2", 2),
    ("DELETE FROM {log} WHERE {whose} AND seq = (SELECT max(seq) FROM {log} WHERE {whose})", None),
    (_REORDERED, 2),
    (_ADDED, None),
]


@pytest.fixture
def run_id(stage: Stage) -> UUID:
    """A run that has paid."""
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug)
    stage.work(run_id)
    stage.approve(run_id)
    stage.work(run_id)
    return run_id


def test_logs_that_nobody_touched_verify(stage: Stage, service: Caller, run_id: UUID) -> None:
    events = stage.events(run_id)
    assert service.get(f"/audit/verify?run={run_id}").json() == {"ok": True, "events": len(events)}
    found = service.get("/audit/verify").json()
    assert (found["ok"], found["runs"], found["bad_runs"]) == (True, 1, [])
    assert found["events"] > 5
    assert "first_bad_seq" not in found
    out = StringIO()
    call_command("audit", "verify", tenant=stage.cast.tenant.slug, stdout=out)
    assert f"2 logs, {found['events'] + len(events)} events, 0 broken" in out.getvalue()


@pytest.mark.parametrize(("tampering", "named"), TAMPERED)
def test_each_tampering_with_a_run_is_named(
    stage: Stage, service: Caller, run_id: UUID, superuser: Any, tampering: str, named: int | None
) -> None:
    events = stage.events(run_id)
    _tamper(superuser, tampering, "runs_event", f"run_id = '{run_id}'")
    end = len(events) if tampering.startswith("DELETE") else len(events) + 1
    found = service.get(f"/audit/verify?run={run_id}").json()
    assert (found["ok"], found["first_bad_seq"]) == (False, named or end)
    errors = StringIO()
    with pytest.raises(CommandError):
        call_command("audit", "verify", tenant=stage.cast.tenant.slug, stdout=StringIO(), stderr=errors)
    assert f"run {run_id} is broken at event {named or end}" in errors.getvalue()


@pytest.mark.parametrize(("tampering", "named"), TAMPERED)
def test_each_tampering_with_the_tenants_log_is_named(
    stage: Stage, service: Caller, superuser: Any, tampering: str, named: int | None
) -> None:
    before = service.get("/audit/verify").json()["events"]
    _tamper(superuser, tampering, "tenancy_change", f"tenant_id = '{stage.tenant_id}'")
    end = before if tampering.startswith("DELETE") else before + 1
    found = service.get("/audit/verify").json()
    assert (found["ok"], found["first_bad_seq"]) == (False, named or end)


def test_a_run_whose_end_was_cut_off_is_named_without_asking_for_it(
    service: Caller, run_id: UUID, superuser: Any
) -> None:
    superuser.execute("DELETE FROM runs_event WHERE run_id = %s AND seq > 3", [run_id])
    found = service.get("/audit/verify").json()
    assert (found["ok"], found["bad_runs"]) == (False, [str(run_id)])
    assert "first_bad_seq" not in found


def test_only_auditors_of_the_tenant_verify(cast: Cast, service: Caller, mallory: Caller, run_id: UUID) -> None:
    theirs, nothing = mallory.get(f"/audit/verify?run={run_id}"), mallory.get(f"/audit/verify?run={uuid7()}")
    assert (theirs.status_code, theirs.content) == (404, nothing.content)
    made = create_key(cast.carol.actor, name="k", scopes=["runs:read"], service_account_id=cast.service.account.id)
    assert Caller(made.raw).get("/audit/verify").json()["code"] == "scope_missing"
    assert service.get("/audit/verify?runs=all").json()["code"] == "invalid_request"


def _tamper(superuser: Any, tampering: str, log: str, whose: str) -> None:
    done = superuser.execute(tampering.format(log=log, whose=whose))
    assert done.rowcount == 1
