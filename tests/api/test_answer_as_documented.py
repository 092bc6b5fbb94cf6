"""Every path that is read answers in its documented shape, with rows in it; refusals are documented too."""

import json
from typing import Any

import jsonschema_rs
import pytest

from agentops.api.docs import document
from tests.api.conftest import Caller
from tests.runs.crowd import PAY
from tests.runs.scenario import Stage
from tools.workflow_changes import install_workflow

# The key that checkpoints are verified with is for everybody.
PUBLIC = "/api/v1/audit/key"
_DOCUMENT = json.loads(document())
_READ = sorted(path for path, methods in _DOCUMENT["paths"].items() if "get" in methods)


@pytest.mark.parametrize("path", _READ)
def test_what_is_read_has_the_documented_shape(stage: Stage, service: Caller, path: str) -> None:
    install_workflow(stage.tenant_id, {"name": "t_read", "machine": {"initial": "a", "states": {"a": {}}}})
    place = ("t_read", "account:1")
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account}, workflow=place)
    stage.work(run_id)
    ids = {"run_id": run_id, "approval_id": stage.pending(run_id).id, "name": "t_read", "slug": "payer"}
    answer = service.get(path.removeprefix("/api/v1").format(**ids))
    assert answer.status_code == 200, answer.content
    assert _faults(path, 200, answer) == []
    if "results" in answer.json():
        assert answer.json()["results"] != []
    if path == PUBLIC:
        return
    refused = Caller("nonsense").get(path.removeprefix("/api/v1").format(**ids))
    assert _faults(path, 401, refused) == []


def test_every_operation_documents_its_refusals() -> None:
    for path, methods in _DOCUMENT["paths"].items():
        for method, operation in methods.items():
            refused = {code for code in operation["responses"] if code.startswith("4")}
            assert {"400", "401", "403", "404"} <= refused, (method, path)


def _faults(path: str, status: int, answer: Any) -> list[str]:
    told = _DOCUMENT["paths"][path]["get"]["responses"][str(status)]["content"][answer["Content-Type"]]["schema"]
    schema = {**told, "components": _DOCUMENT["components"]}
    faults = jsonschema_rs.Draft202012Validator(schema).iter_errors(answer.json())
    return [f"{fault.instance_path}: {fault.message}" for fault in faults]
