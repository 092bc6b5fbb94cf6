"""Clients of the modern era that understand more: a waiting call as a task, and the page of its request to open."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from agentops.mcp.tasks import EXTENSION
from tests.mcp.conftest import only_run, runs
from tests.runs.scenario import Stage
from tests.served import Served
from tests.up import until

VERSION = "2026-07-28"
CLIENT = {"name": "raw", "version": "1"}


class Raw:
    """Single requests as the specification writes them, with these capabilities."""

    def __init__(self, http: httpx2.Client, **capabilities: Any) -> None:
        self._http, self._capabilities = http, capabilities

    def ask(self, method: str, about: str, /, **params: Any) -> dict[str, Any]:
        """The result, or the error. `about`: the tool or task, as its header says."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        said = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method, "Mcp-Name": about}
        answer = self._http.post("/mcp", json=body, headers=said).json()
        found: dict[str, Any] = answer.get("result") or answer["error"]
        return found

    def pay(self, stage: Stage, **more: Any) -> dict[str, Any]:
        args = {"account": stage.account, "amount": "5"}
        return self.ask("tools/call", "t_pay_plain", name="t_pay_plain", arguments=args, **more)

    def task(self, method: str, task_id: str) -> dict[str, Any]:
        return self.ask(f"tasks/{method}", task_id, taskId=task_id)


@contextmanager
def _http(served: Served, key: str) -> Iterator[httpx2.Client]:
    said = {
        "Authorization": f"Bearer {key}",
        "Accept": "application/json, text/event-stream",
        "X-AgentOps-Hold": "0",
    }
    with httpx2.Client(base_url=served.url, headers=said, timeout=60) as http:
        yield http


@pytest.fixture
def http(served: Served, stage: Stage) -> Iterator[httpx2.Client]:
    with _http(served, stage.cast.service.raw_key) as client:
        yield client


def test_a_call_that_waits_is_a_task_and_its_end_the_result(stage: Stage, http: httpx2.Client, worker: None) -> None:
    client = Raw(http, extensions={EXTENSION: {}})
    task = client.pay(stage)
    assert (task["resultType"], task["status"]) == ("task", "working")
    assert task["ttlMs"] >= 86_400_000
    assert client.pay(stage)["taskId"] == task["taskId"]
    assert client.task("get", task["taskId"])["statusMessage"] == "Waiting for a person's approval."
    stage.approve(only_run(stage))
    until(lambda: stage.statuses(only_run(stage)) == ["succeeded"])
    ended = client.task("get", task["taskId"])
    assert (ended["status"], ended["result"]["structuredContent"]["done"]) == ("completed", 1)
    assert client.pay(stage)["structuredContent"] == ended["result"]["structuredContent"]


def test_a_task_is_cancelled_only_while_it_waits_and_by_its_own(
    stage: Stage, http: httpx2.Client, served: Served
) -> None:
    client = Raw(http, extensions={EXTENSION: {}})
    task_id = client.pay(stage)["taskId"]
    with _http(served, stage.cast.other_service.raw_key) as theirs:
        mallory = Raw(theirs, extensions={EXTENSION: {}})
        unknown = mallory.task("get", "018f0000-0000-7000-8000-000000000000")
        assert mallory.task("get", task_id) == mallory.task("cancel", task_id) == unknown
    assert unknown["code"] == -32602
    assert client.ask("tasks/get", "another", taskId=task_id)["code"] == -32020
    assert client.task("update", task_id)["resultType"] == "complete"
    assert stage.statuses(only_run(stage)) == ["held"]
    assert client.task("cancel", task_id)["resultType"] == "complete"
    assert client.task("get", task_id)["status"] == "cancelled"
    assert client.task("cancel", task_id)["resultType"] == "complete"


def test_without_the_extension_no_task_is_ever_answered(stage: Stage, http: httpx2.Client) -> None:
    assert Raw(http).pay(stage)["structuredContent"]["status"] == "pending_approval"


def test_a_client_that_opens_pages_is_sent_to_the_request_and_then_goes_on(
    stage: Stage, http: httpx2.Client, worker: None
) -> None:
    client = Raw(http, elicitation={"url": {}})
    asked = client.pay(stage)
    request = stage.pending(only_run(stage))
    assert asked["resultType"] == "input_required"
    page = asked["inputRequests"]["approval"]["params"]
    assert (page["mode"], page["url"].endswith(f"/approvals/{request.id}")) == ("url", True)
    opened = {"inputResponses": {"approval": {"action": "accept"}}, "requestState": asked["requestState"]}
    assert client.pay(stage, **opened)["structuredContent"]["status"] == "pending_approval"
    stage.approve(only_run(stage))
    until(lambda: stage.statuses(only_run(stage)) == ["succeeded"])
    assert client.pay(stage, **opened)["structuredContent"]["done"] == 1


def test_a_state_that_was_sealed_for_another_call_or_key_is_refused(
    stage: Stage, http: httpx2.Client, served: Served
) -> None:
    client = Raw(http, elicitation={"url": {}})
    asked = client.pay(stage)
    opened = {"inputResponses": {"approval": {"action": "accept"}}, "requestState": asked["requestState"]}
    args = {"account": stage.account, "amount": "6"}
    other = client.ask("tools/call", "t_pay_plain", name="t_pay_plain", arguments=args, **opened)
    assert other["code"] == -32602
    assert len(runs(stage)) == 1
    assert stage.statuses(only_run(stage)) == ["held"]
