"""Signed checkpoints over the ends of all logs, and a run's log as a file that an outsider can check."""

import base64
import json
import subprocess
import sys
import threading
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from agentops.chain import link_hash
from agentops.signing import public_key
from agentops.tenancy.errors import ScopeMissing
from runs import checkpoints
from runs.checkpoints import heads_of, seal
from runs.domain.errors import RunNotFound
from runs.exporting import export_run
from runs.verifying import broken_checkpoint
from tests.runs.scenario import Stage

READ = [{"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}]
VERIFIER = Path(__file__).parents[2] / "docs" / "verify_run.py"


def _done(stage: Stage) -> UUID:
    run_id = stage.start(stage.agent("reader", READ), given={"account": stage.account})
    stage.work(run_id)
    return run_id


def test_a_checkpoint_says_where_every_log_ends_and_is_not_repeated(stage: Stage) -> None:
    first, second = _done(stage), _done(stage)
    (row,) = seal(stage.tenant_id)
    assert [head[0] for head in heads_of(row)] == sorted([str(first), str(second)])
    assert seal(stage.tenant_id) == []
    third = _done(stage)
    (later,) = seal(stage.tenant_id)
    assert str(third) in {head[0] for head in heads_of(later)}
    assert json.loads(later.body)["number"] == 2
    assert broken_checkpoint(stage.tenant_id) is None


def test_many_heads_are_signed_in_parts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MOST_HEADS", 2)
    runs = [_done(stage) for _ in range(3)]
    rows = seal(stage.tenant_id)
    assert sorted(head[0] for row in rows for head in heads_of(row)) == sorted(map(str, runs))
    assert [row.number for row in rows] == [1, 2]
    assert broken_checkpoint(stage.tenant_id) is None


def test_two_hosts_at_once_write_one_checkpoint(stage: Stage) -> None:
    _done(stage)
    start, written = threading.Barrier(2), []

    def sealing() -> None:
        start.wait(10)
        written.extend(seal(stage.tenant_id))
        connections.close_all()

    hosts = [threading.Thread(target=sealing) for _ in range(2)]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join(20)
    assert len(written) == 1


def test_a_log_written_anew_from_end_to_end_is_found_out(stage: Stage, superuser: Any) -> None:
    run_id = _done(stage)
    seal(stage.tenant_id)
    prev = ""
    for event in stage.events(run_id):
        data = event.data.replace(stage.account, "acc-000000000000")
        digest = link_hash(prev, event.tenant_id, run_id, event.seq, event.kind, event.actor, event.at, data)
        superuser.execute(
            "UPDATE runs_event SET data = %s, prev_hash = %s, hash = %s WHERE id = %s", [data, prev, digest, event.id]
        )
        prev = digest
    superuser.execute("UPDATE runs_run SET head = %s WHERE id = %s", [prev, run_id])
    assert broken_checkpoint(stage.tenant_id) == 1


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE runs_checkpoint SET body = replace(body, '\"number\":1', '\"number\":7') WHERE tenant_id = %s",
        "UPDATE runs_checkpoint SET heads = '[]' WHERE tenant_id = %s",
        "DELETE FROM runs_checkpoint WHERE number = 1 AND tenant_id = %s",
    ],
)
def test_a_changed_or_missing_checkpoint_is_found_out(stage: Stage, superuser: Any, tampering: str) -> None:
    for _ in range(2):
        _done(stage)
        seal(stage.tenant_id)
    assert superuser.execute(tampering, [stage.tenant_id]).rowcount >= 1
    assert broken_checkpoint(stage.tenant_id) == 1


def test_a_configured_key_signs_instead(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    key = Ed25519PrivateKey.generate()
    monkeypatch.setattr(settings, "AGENTOPS_SIGNING_KEY", base64.b64encode(key.private_bytes_raw()).decode())
    _done(stage)
    (row,) = seal(stage.tenant_id)
    assert row.public_key == base64.b64encode(key.public_key().public_bytes_raw()).decode()
    assert broken_checkpoint(stage.tenant_id) is None


def _verified(tmp_path: Path, exported: dict[str, Any], *key: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(exported), encoding="utf-8")
    return subprocess.run([sys.executable, str(VERIFIER), str(file), *key], capture_output=True, text=True, check=False)


def test_an_outsider_verifies_an_exported_run_with_forty_lines(stage: Stage, tmp_path: Path) -> None:
    run_id = _done(stage)
    _done(stage)
    early = _verified(tmp_path, export_run(stage.cast.carol.actor, run_id))
    assert (early.returncode, "No checkpoint vouches" in early.stderr) == (1, True)
    seal(stage.tenant_id)
    exported = export_run(stage.cast.carol.actor, run_id)
    good = _verified(tmp_path, exported, public_key())
    assert good.returncode == 0, good.stderr
    assert f"up to event {len(exported['events'])}" in good.stdout
    assert len(VERIFIER.read_text().splitlines()) <= 40


@pytest.mark.parametrize("tamper", ["data", "order", "cut", "leaf", "key"])
def test_an_outsider_sees_each_change_of_an_exported_run(stage: Stage, tmp_path: Path, tamper: str) -> None:
    run_id = _done(stage)
    _done(stage)
    seal(stage.tenant_id)
    exported = export_run(stage.cast.carol.actor, run_id)
    events, key = exported["events"], public_key()
    match tamper:
        case "data":
            events[1]["data"] = events[1]["data"].replace('"', '" ', 1)
        case "order":
            events[1], events[2] = events[2], events[1]
        case "cut":
            events.pop()
        case "leaf":
            exported["checkpoint"]["seq"] -= 1
        case _:
            other = Ed25519PrivateKey.generate().public_key()
            key = base64.b64encode(other.public_bytes_raw()).decode()
    assert _verified(tmp_path, exported, key).returncode != 0


def test_only_auditors_of_the_tenant_export(stage: Stage) -> None:
    run_id = _done(stage)
    with pytest.raises(ScopeMissing):
        export_run(replace(stage.cast.carol.actor, scopes=frozenset({"runs:read"})), run_id)
    with pytest.raises(RunNotFound):
        export_run(stage.cast.mallory.actor, run_id)


def test_the_command_prints_what_was_signed_and_names_what_does_not_hold(stage: Stage) -> None:
    _done(stage)
    (row,) = seal(stage.tenant_id)
    out = StringIO()
    call_command("audit", "checkpoints", tenant=stage.cast.tenant.slug, stdout=out)
    assert json.loads(out.getvalue())["signature"] == row.signature
