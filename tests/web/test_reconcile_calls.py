"""The form on which a person says what a call of unknown outcome really did."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.test import Client
from django.utils import timezone

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import PolicyVersion
from approvals.queries import request as request_of
from runs import probing, queries
from runs.models import Step, WorkItem
from runs.operations import advancing
from runs.operations.advancing import Execute, Probe
from runs.operations.settling import Settled
from tests.cast import Person
from tests.runs.scenario import new_stage
from tests.web.scene import Scene
from tools.domain.outcome import Unknown

type Browse = Callable[[Person], Client]


def _unknown(scene: Scene, browse: Browse) -> tuple[UUID, UUID]:
    """An approved payment whose worker died in the middle: its run and its step."""
    run_id = scene.run()
    request_id = queries.run(scene.cast.bob.actor, run_id).open_approvals[0]
    view = request_of(scene.cast.bob.actor, request_id)
    said = {"verdict": "approve", "digest": view.request.digest, "target": view.snapshot["target"]}
    assert browse(scene.cast.bob).post(f"/approvals/{request_id}/decisions", said).status_code == 302
    owner, tenant_id = uuid7(), scene.cast.tenant.id
    found = advancing.begin("control", run_id, owner)
    while isinstance(found, Probe):
        found = advancing.resume(tenant_id, run_id, owner, readings=probing.read(found.wanted))
    assert isinstance(found, Execute)
    past = timezone.now() - timedelta(seconds=1)
    with tenant_transaction(tenant_id):
        Step.objects.filter(id=found.call.step_id).update(lease_until=past)
    WorkItem.objects.filter(id=run_id).update(due_at=past)
    scene.work(run_id)
    return run_id, found.call.step_id


def _lost(scene: Scene, reason: str) -> tuple[UUID, UUID]:
    """A payment of an outside agent whose tool could only say this: its run and its step."""
    stage = new_stage(scene.cast)
    run_id = stage.outside()
    stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    call = stage.claim_only(run_id)
    advancing.resume(stage.tenant_id, run_id, uuid7(), settled=Settled(call, Unknown(reason)))
    return run_id, call.step_id


def test_what_a_tool_said_is_shown_exactly_wherever_it_stands(scene: Scene, browse: Browse) -> None:
    run_id, step_id = _lost(scene, "exit_9: disk full on \u202e/archive")
    step = queries.step(scene.cast.alice.actor, step_id)
    request_id = step.requests[0].id
    for address in ("/inbox?tab=unknown", f"/approvals/{request_id}", f"/runs/{run_id}"):
        page = browse(scene.cast.alice).get(address).content.decode()
        assert "disk full on" in page
        assert "\u202e" not in page


def test_the_pages_of_an_unknown_call_lead_to_the_form_those_who_may_use_it(scene: Scene, browse: Browse) -> None:
    run_id, step_id = _lost(scene, "timeout: The command was stopped after 1.5 s. It may have acted.")
    request_id = queries.step(scene.cast.alice.actor, step_id).requests[0].id
    form = f"/steps/{step_id}/reconciliation"
    for address in (f"/approvals/{request_id}", f"/runs/{run_id}"):
        assert form in browse(scene.cast.alice).get(address).content.decode()
        page = browse(scene.cast.bob).get(address).content.decode()
        assert form not in page
        assert "An operator or an owner can say what happened." in page
    assert "Nobody knows yet whether a call acted." in page.split('id="machine-title"')[0]
    assert "It may have acted." in browse(scene.cast.alice).get(form).content.decode()


def test_an_unknown_call_is_found_in_the_inbox_and_settled_by_the_form(scene: Scene, browse: Browse) -> None:
    run_id, step_id = _unknown(scene, browse)
    alice = browse(scene.cast.alice)
    assert f"step-{step_id}" in alice.get("/inbox?tab=unknown").content.decode()
    page = alice.get(f"/steps/{step_id}/reconciliation").content.decode()
    assert "What did this call really do?" in page
    assert "DE02 1203 0000 0000 2020 51" in page
    said = {"outcome": "succeeded", "evidence": "It is on the statement.", "result": '{"payment": 7}'}
    answer = alice.post(f"/steps/{step_id}/reconciliation", said)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/runs/{run_id}")
    scene.work(run_id)
    assert queries.run(scene.cast.alice.actor, run_id).run.status == "succeeded"
    assert f"step-{step_id}" not in alice.get("/inbox?tab=unknown").content.decode()


def test_a_form_without_evidence_or_with_a_broken_result_comes_back_as_it_was(scene: Scene, browse: Browse) -> None:
    _, step_id = _unknown(scene, browse)
    alice = browse(scene.cast.alice)
    for said in ({"outcome": "succeeded"}, {"outcome": "succeeded", "evidence": "x", "result": "{"}):
        answer = alice.post(f"/steps/{step_id}/reconciliation", said)
        assert answer.status_code == 422
    assert queries.step(scene.cast.alice.actor, step_id).step.status == "unknown"


def test_it_cannot_be_called_failed_while_the_call_may_still_arrive(scene: Scene, browse: Browse) -> None:
    _, step_id = _unknown(scene, browse)
    answer = browse(scene.cast.alice).post(
        f"/steps/{step_id}/reconciliation", {"outcome": "failed", "evidence": "not there"}
    )
    assert answer.status_code == 409
    assert "may still be on its way" in answer.content.decode()
    assert queries.step(scene.cast.alice.actor, step_id).step.status == "unknown"


def test_the_second_person_sees_what_the_first_one_said(scene: Scene, browse: Browse) -> None:
    with tenant_transaction(scene.cast.tenant.id):
        PolicyVersion.objects.create(
            tenant_id=scene.cast.tenant.id, number=1, preset="careful", reconcile_quorum=2, created_at=timezone.now()
        )
    _, step_id = _unknown(scene, browse)
    address = f"/steps/{step_id}/reconciliation"
    said = {"outcome": "succeeded", "evidence": "Seen on the statement.", "result": '{"payment": 7}'}
    assert browse(scene.cast.alice).post(address, said).status_code == 302
    assert queries.step(scene.cast.alice.actor, step_id).step.status == "unknown"
    assert "Seen on the statement." in browse(scene.cast.carol).get(address).content.decode()
    assert browse(scene.cast.carol).post(address, said).status_code == 302
    assert queries.step(scene.cast.alice.actor, step_id).step.status == "succeeded"


def test_an_approver_who_is_no_operator_cannot_reconcile(scene: Scene, browse: Browse) -> None:
    _, step_id = _unknown(scene, browse)
    bob, address = browse(scene.cast.bob), f"/steps/{step_id}/reconciliation"
    assert bob.get(address).status_code == 403
    assert bob.post(address, {"outcome": "succeeded", "evidence": "I say so"}).status_code == 403
    assert queries.step(scene.cast.alice.actor, step_id).step.status == "unknown"


def test_another_tenant_sees_no_such_call(scene: Scene, browse: Browse) -> None:
    _, step_id = _unknown(scene, browse)
    assert browse(scene.cast.mallory).get(f"/steps/{step_id}/reconciliation").status_code == 404
