"""What the door refuses before any operation is asked: fields, values, queries, methods, cursors, keys."""

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from agentops.api.urls import urlpatterns
from agentops.tenancy.keys import create_key, revoke_key
from agentops.tenancy.models import ApiKey
from tests.api.conftest import Caller
from tests.api.problems import assert_problem
from tests.cast import Cast
from tests.runs.scenario import Stage

PAY = [{"tool": "t_pay", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"agent": "a", "task": "x", "extra/field": 1}, "/extra~1field"),
        ({"agent": "a", "task": "x", "input": []}, "/input"),
        ({"agent": "a", "task": "x", "workflow": {"name": "w"}}, "/workflow/handle"),
        ({"agent": "a", "task": "x" * 20_001}, "/task"),
        ({"agent": "a"}, "/task"),
        ({"agent": "a\x00", "task": "x"}, "/agent"),
        ({"agent": "a", "task": "x", "budget": {"stepz": 1}}, "/budget/stepz"),
    ],
)
def test_a_wrong_field_is_named_by_its_place(service: Caller, body: dict[str, Any], pointer: str) -> None:
    assert_problem(service.post("/runs", body), 400, "invalid_request", pointer)


@pytest.mark.parametrize(
    "proposal",
    [
        {"kind": "tool", "tool": "t", "args": {}, "surprise": 1},
        {"kind": "tool", "tool": 5, "args": {}},
        {"kind": "dance"},
        {"kind": "finish", "answer": "a\x00b"},
    ],
)
def test_a_wrong_proposal_refuses_the_request(stage: Stage, service: Caller, proposal: dict[str, Any]) -> None:
    run_id = service.post("/runs", {"agent": stage.external(), "task": "Look"}).json()["id"]
    body = assert_problem(service.post(f"/runs/{run_id}/proposals", {"proposals": [proposal]}), 400, "invalid_request")
    assert all(error["pointer"].startswith("/proposals/0") for error in body["errors"])


@pytest.mark.parametrize(
    ("proposal", "detail"),
    [
        ({"tool": "t"}, "The kind must be one of: tool, finish."),
        ({"kind": "dance"}, "The kind must be one of: tool, finish."),
        ("tool", "This must be an object."),
    ],
)
def test_a_proposal_of_no_known_kind_says_which_there_are(
    stage: Stage, service: Caller, proposal: Any, detail: str
) -> None:
    run_id = service.post("/runs", {"agent": stage.external(), "task": "Look"}).json()["id"]
    body = assert_problem(service.post(f"/runs/{run_id}/proposals", {"proposals": [proposal]}), 400, "invalid_request")
    assert body["errors"] == [{"pointer": "/proposals/0", "detail": detail}]


def test_a_reason_with_nul_is_refused_and_changes_nothing(stage: Stage, service: Caller) -> None:
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    assert_problem(service.post(f"/runs/{run_id}/cancel", {"reason": "\x00"}), 400, "invalid_request", "/reason")
    assert service.get(f"/runs/{run_id}").json()["finished_at"] is None


@pytest.mark.parametrize(
    "query", ["status=bogus", "stauts=failed", "limit=0", "limit=x", "created_after=today", "cursor=x", "agent=%00"]
)
def test_a_wrong_query_is_refused_instead_of_ignored(service: Caller, query: str) -> None:
    assert_problem(service.get(f"/runs?{query}"), 400, "invalid_request", "/" + query.split("=", maxsplit=1)[0])


def test_a_wrong_method_says_which_are_right(service: Caller) -> None:
    answer = service.raw("delete", "/runs", "{}")
    assert_problem(answer, 405, "method_not_allowed")
    assert set(answer["Allow"].split(", ")) >= {"GET", "POST"}


def test_a_body_may_not_be_another_type_nor_missing(service: Caller) -> None:
    assert_problem(service.raw("post", "/runs", "<run/>", content_type="text/xml"), 415, "unsupported_media_type")
    assert_problem(service.raw("post", "/runs", ""), 400, "invalid_request")


def test_pages_follow_each_other_and_a_cursor_belongs_to_its_list_and_tenant(
    stage: Stage, service: Caller, mallory: Caller
) -> None:
    slug = stage.external()
    made = [service.post("/runs", {"agent": slug, "task": f"{n}"}).json()["id"] for n in range(5)]
    seen, page = [], service.get("/runs?limit=2").json()
    cursor = page["next"].split("cursor=")[1].split("&")[0]
    while True:
        seen += [run["id"] for run in page["results"]]
        if page["next"] is None:
            break
        page = service.get("/runs" + page["next"].split("/runs", 1)[1]).json()
    assert seen == made[::-1]
    assert_problem(mallory.get(f"/runs?cursor={cursor}"), 400, "invalid_request", "/cursor")
    assert_problem(service.get(f"/tools?cursor={cursor}"), 400, "invalid_request", "/cursor")


def test_each_scope_is_asked_for(cast: Cast, stage: Stage) -> None:
    raw = create_key(cast.carol.actor, name="audit", scopes=["audit:read"], service_account_id=cast.service.account.id)
    nobody = Caller(raw.raw)
    for path in ("/runs", "/approvals", "/tools", "/agents"):
        assert_problem(nobody.get(path), 403, "scope_missing")
    assert_problem(nobody.post("/runs", {"agent": stage.external(), "task": "x"}), 403, "scope_missing")


def test_a_key_that_ended_says_how_and_how_to_authenticate(cast: Cast, service: Caller) -> None:
    ApiKey.objects.filter(id=cast.service.key.id).update(expires_at=timezone.now() - timedelta(minutes=1))
    answer = service.get("/runs")
    assert assert_problem(answer, 401, "key_rejected")["reason"] == "expired"
    assert answer["WWW-Authenticate"].startswith("Bearer")
    for header in ("", "Basic YTpi", "Bearer", "Bearer x"):
        refused = Client().get("/api/v1/runs", headers={"Authorization": header})
        assert (refused.status_code, "WWW-Authenticate" in refused.headers) == (401, True)


def test_a_key_that_decides_cannot_propose(stage: Stage, cast: Cast) -> None:
    alice = Caller(cast.alice.raw_key)
    made = alice.post("/runs", {"agent": stage.external(), "task": "x"})
    assert made.status_code == 201, made.content
    body = {"proposals": [{"kind": "finish", "answer": "x"}]}
    assert_problem(alice.post(f"/runs/{made.json()['id']}/proposals", body), 403, "not_for_agents")


def test_the_documentation_needs_nothing_from_elsewhere_and_no_inline_script() -> None:
    answer = Client().get("/api/v1/docs")
    page = answer.content.decode()
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<script") == page.count("<script src=")
    document = json.loads(Client().get("/api/v1/schema").content)
    assert document["openapi"].startswith("3.1")
    served = {f"/api/{found.pattern}" for found in urlpatterns if hasattr(found.callback, "view_class")}
    assert {re.sub(r"{(\w+)}", r"<str:\1>", path) for path in document["paths"]} == served


@pytest.mark.asyncio
async def test_a_stream_is_taken_up_where_it_broke_off_and_ends_with_the_run(stage: Stage, service: Caller) -> None:
    run_id = await asyncio.to_thread(_finished_run, stage, service)
    rows = (await asyncio.to_thread(service.get, f"/runs/{run_id}/events")).json()["results"]
    headers = {"Authorization": f"Bearer {service.raw_key}", "Accept": "text/event-stream"}
    answer: Any = await AsyncClient().get(f"/api/v1/runs/{run_id}/events", headers={**headers, "Last-Event-ID": "1"})
    assert answer["Content-Type"] == "text/event-stream"
    text = "".join([chunk.decode() async for chunk in answer.streaming_content])
    sent = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
    assert sent == rows[1:]


def test_a_stream_of_another_tenant_is_not_found(stage: Stage, service: Caller, mallory: Caller) -> None:
    run_id = _finished_run(stage, service)
    assert_problem(mallory.get(f"/runs/{run_id}/events", Accept="text/event-stream"), 404, "not_found")


def test_a_stream_ends_when_its_key_is_revoked(cast: Cast, stage: Stage, service: Caller) -> None:
    run_id = service.post("/runs", {"agent": stage.external(), "task": "x"}).json()["id"]
    answer = service.get(f"/runs/{run_id}/events", Accept="text/event-stream")
    chunks = iter(answer.streaming_content)
    assert next(chunks).startswith(b"id: 1\n")
    revoke_key(cast.carol.actor, key_id=cast.service.key.id)
    assert list(chunks) == []


def _finished_run(stage: Stage, service: Caller) -> str:
    run_id: str = service.post("/runs", {"agent": stage.external(), "task": "x"}).json()["id"]
    body = {"proposals": [{"kind": "finish", "answer": "done"}]}
    assert service.post(f"/runs/{run_id}/proposals", body).status_code == 201
    return run_id
