"""A run's log as a file, and the key that vouches for it, over REST."""

from django.test import Client

from agentops.signing import public_key
from runs.checkpoints import seal
from tests.api.conftest import Caller
from tests.runs.scenario import Stage


def test_the_export_is_a_file_with_the_whole_log_and_its_proof(stage: Stage, service: Caller, mallory: Caller) -> None:
    run_id = stage.start(stage.agent("reader", [{"tool": "t_read", "args": {"account": stage.account}}]))
    stage.work(run_id)
    seal(stage.tenant_id)
    answer = service.get(f"/runs/{run_id}/export")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="run-{run_id}.json"'
    body = answer.json()
    assert [event["seq"] for event in body["events"]] == list(range(1, len(stage.events(run_id)) + 1))
    assert body["checkpoint"]["public_key"] == public_key()
    assert mallory.get(f"/runs/{run_id}/export").status_code == 404
    assert service.get("/audit/verify").json()["checkpoints"] == 1


def test_anybody_may_read_the_public_key() -> None:
    answer = Client().get("/api/v1/audit/key")
    assert answer.json() == {"algorithm": "Ed25519", "public_key": public_key()}
