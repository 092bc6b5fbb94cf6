"""Secrets in arguments and results: masked wherever they are shown, exact where the tool receives them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pydantic import SecretStr

from agentops.tenancy.transaction import tenant_transaction
from runs.domain.planning import ToolProposal
from runs.operations.submitting import submit
from tests.runs.scenario import WORLDS, Stage, World
from tools.credentials import store_credential

CASES = json.loads((Path(__file__).parent.parent / "cases" / "display.json").read_text())["secrets"]
TABLES = ("runs_run", "runs_step", "runs_proposal", "runs_observation", "runs_event", "approvals_approvalrequest")


def _everything(stage: Stage) -> str:
    """Every stored text of the tenant, as the application role sees it."""
    with tenant_transaction(stage.tenant_id), connection.cursor() as cursor:
        texts = []
        for table in TABLES:
            cursor.execute(f"SELECT (to_jsonb(t) - 'sealed' - 'sealed_input')::text FROM {table} t")
            texts += [row[0] for row in cursor.fetchall()]
    return "\n".join(texts)


@pytest.mark.parametrize("case", [c for c in CASES if "args" in c], ids=lambda c: c["never_shown"][0])
def test_a_secret_argument_reaches_the_tool_and_no_stored_text(stage: Stage, case: dict[str, Any]) -> None:
    run_id = stage.start(stage.external(), by=stage.cast.service.actor)
    proposal = ToolProposal("t_note", {"text": "x", "meta": case["args"]})
    submit(stage.cast.service.actor, run_id, [proposal])
    request = stage.pending(run_id)
    assert "⟦" in request.snapshot
    WORLDS["notes"] = World()
    stage.approve(run_id)
    stage.work(run_id)
    assert WORLDS["notes"].notes[-1]["meta"] == case["args"]
    stored = _everything(stage)
    assert all(secret not in stored for secret in case["never_shown"])


@pytest.mark.parametrize("case", [c for c in CASES if "args" in c], ids=lambda c: c["never_shown"][0])
def test_a_secret_in_the_input_reaches_the_tool_and_no_stored_text(stage: Stage, case: dict[str, Any]) -> None:
    note = {"tool": "t_note", "args": {"text": "x", "meta": {"$cel": "input"}}}
    run_id = stage.start(stage.agent("writer", [note]), given=case["args"])
    stage.work(run_id)
    WORLDS["notes"] = World()
    stage.approve(run_id)
    stage.work(run_id)
    assert WORLDS["notes"].notes[-1]["meta"] == case["args"]
    stored = _everything(stage)
    assert "⟦" in stage.run(run_id).input
    assert all(secret not in stored for secret in case["never_shown"])


def test_a_stored_credential_in_the_input_is_recognised(stage: Stage) -> None:
    bearer = "bearer-of-the-test-0123456789"
    store_credential(stage.tenant_id, "bank", "bank.example:443", SecretStr(bearer), by="test")
    run_id = stage.start(stage.external(), by=stage.cast.service.actor, given={"note": f"use {bearer}"})
    assert bearer not in _everything(stage)
    assert "⟦secret string 29 " in stage.run(run_id).input


def test_an_input_without_secrets_is_kept_as_it_is(stage: Stage) -> None:
    run = stage.run(stage.start(stage.external(), by=stage.cast.service.actor, given={"token_count": 5, "a": "b"}))
    assert (run.input, run.sealed_input) == ('{"a":"b","token_count":5}', None)


def test_a_stored_credential_is_recognised_anywhere(stage: Stage) -> None:
    bearer = "bearer-of-the-test-0123456789"
    store_credential(stage.tenant_id, "bank", "bank.example:443", SecretStr(bearer), by="test")
    run_id = stage.start(stage.external(), by=stage.cast.service.actor)
    submit(stage.cast.service.actor, run_id, [ToolProposal("t_note", {"text": f"use {bearer} please"})])
    assert stage.statuses(run_id) == ["held"]
    assert bearer not in _everything(stage)
