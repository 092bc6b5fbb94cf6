"""Mallory learns nothing: each address with an id of another tenant answers as it does for no row at all."""

import json
from typing import Any
from uuid import UUID

import pytest

from agentops.api.docs import document
from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import ApiKey
from tests.api.conftest import Caller
from tests.runs.crowd import PAY
from tests.runs.scenario import Stage

BODIES = {
    "/runs/{run_id}/proposals": {"proposals": [{"kind": "finish", "answer": "x"}]},
    "/approvals/{approval_id}/decisions": {"verdict": "approve", "digest": "0" * 64},
    "/steps/{step_id}/reconcile": {"outcome": "succeeded", "evidence": "seen"},
}
PAGES = {
    "run_id": ("/runs/{}", "/runs/{}/input", "/runs/{}/events", "/runs/start?again={}"),
    "approval_id": ("/approvals/{}", "/approvals/{}/values"),
    "step_id": ("/steps/{}/values", "/steps/{}/reconciliation"),
}
FORMS = {
    "run_id": ("/runs/{}/cancellation",),
    "approval_id": ("/approvals/{}/decisions", "/approvals/{}/checks"),
    "step_id": ("/steps/{}/reconciliation",),
    "key_id": ("/settings/keys/{}/revocation",),
}


@pytest.fixture
def theirs(stage: Stage) -> dict[str, str]:
    """Rows of the tenant that mallory is not in."""
    run_id = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(run_id)
    key = ApiKey.objects.filter(tenant=stage.cast.tenant, user=stage.cast.bob.user).get()
    return {
        "run_id": str(run_id), "approval_id": str(stage.pending(run_id).id), "step_id": str(stage.steps(run_id)[0].id),
        "name": "t_pay_plain", "slug": "payer", "key_id": str(key.id),
    }  # fmt: skip


def test_every_address_of_rest_answers_as_if_there_were_nothing(stage: Stage, theirs: dict[str, str]) -> None:
    mallory = Caller(stage.cast.other_service.raw_key)
    nothing = {**{name: str(uuid7()) for name in theirs}, "name": "t_nothing", "slug": "nobody"}
    asked = 0
    for path, methods in json.loads(document())["paths"].items():
        place = path.removeprefix("/api/v1")
        for method in methods if "{" in place else ():
            first, second = (_call(mallory, method, place, ids) for ids in (theirs, nothing))
            assert first.json()["code"].endswith("not_found"), (method, path)
            assert (first.status_code, second.status_code, second.content) == (404, 404, first.content), (method, path)
            asked += 1
    assert asked >= 15
    assert [r.status for r in stage.requests(UUID(theirs["run_id"]))] == ["pending"]


def test_every_page_answers_as_if_there_were_nothing(stage: Stage, theirs: dict[str, str]) -> None:
    client = stage.cast.mallory.signed_in()
    for method, addresses in (("get", PAGES), ("post", FORMS)):
        for name, places in addresses.items():
            for place in places:
                answers = [getattr(client, method)(place.format(row)) for row in (theirs[name], str(uuid7()))]
                assert [answer.status_code for answer in answers] == [404, 404], place
                assert theirs[name].encode() not in answers[0].content
    assert ApiKey.objects.get(id=theirs["key_id"]).revoked_at is None


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize(
    "path",
    ["/runs?agent=payer", "/runs?status=awaiting_approval", "/approvals", "/tools?search=t_pay", "/agents"],
)
def test_no_list_filter_or_search_shows_anything(stage: Stage, path: str) -> None:
    answer = Caller(stage.cast.other_service.raw_key).get(path).json()
    assert answer["results"] == []
    assert answer["count"] == 0


def _call(caller: Caller, method: str, place: str, ids: dict[str, str]) -> Any:
    body = BODIES.get(place, {}) if method != "get" else None
    address = place.format(**ids)
    return caller.get(address) if body is None else caller.raw(method, address, json.dumps(body))
