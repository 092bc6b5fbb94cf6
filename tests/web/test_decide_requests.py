"""A request is shown whole, and decided by the page's rules."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest
from approvals.queries import request as request_of
from runs import queries
from runs.domain.planning import ToolProposal
from tests.cast import Person
from tests.runs.scenario import new_stage
from tests.sandbox.inside import command_spec
from tests.web.scene import INVOICES, PAID, Scene
from tools.operations import install_specs

type Browse = Callable[[Person], Client]


def waiting(scene: Scene, run_id: UUID) -> UUID:
    return queries.run(scene.cast.bob.actor, run_id).open_approvals[0]


def approval(scene: Scene, request_id: UUID, **changes: str) -> dict[str, str]:
    view = request_of(scene.cast.bob.actor, request_id)
    return {"verdict": "approve", "digest": view.request.digest, "target": view.snapshot["target"], **changes}


def test_an_approved_call_runs_and_the_page_says_so(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = waiting(scene, run_id)
    bob, address = browse(scene.cast.bob), f"/approvals/{request_id}"
    page = bob.get(address).content.decode()
    assert "DE02 1203 0000 0000 2020 51" in page
    assert "You can decide this" in page
    assert "(nobody has changed the policy yet)" in page
    answer = bob.post(f"{address}/decisions", approval(scene, request_id))
    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    scene.work(run_id)
    page = bob.get(address).content.decode()
    assert "succeeded" in page
    assert "data-dialog" not in page.split('id="bar"')[1]
    assert queries.run(scene.cast.bob.actor, run_id).run.status == "succeeded"


def test_the_budget_on_an_open_page_follows_the_call(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = waiting(scene, run_id)
    bob, address = browse(scene.cast.bob), f"/approvals/{request_id}"

    def effects() -> str:
        return bob.get(address, headers={"HX-Request": "true", "HX-Target": "effects"}).content.decode()

    assert effects().lstrip().startswith('<section id="effects"')
    assert "0 + 12400 / 20000 EUR" in effects()
    bob.post(f"{address}/decisions", approval(scene, request_id))
    scene.work(run_id)
    assert "12400 / 20000 EUR" in effects()
    assert "+ 12400" not in effects()


def test_the_target_must_be_typed_exactly(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    answer = browse(scene.cast.bob).post(
        f"/approvals/{request_id}/decisions", approval(scene, request_id, target="invoice:other")
    )
    assert answer.status_code == 422
    assert "Type the target exactly as it is shown." in answer.content.decode()
    assert request_of(scene.cast.bob.actor, request_id).request.status == "pending"


def test_a_folded_value_must_be_opened(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run(note="x" * 5000))
    bob, address = browse(scene.cast.bob), f"/approvals/{request_id}"
    closed = bob.post(f"{address}/decisions", approval(scene, request_id))
    assert closed.status_code == 422
    assert "Open every folded value first" in closed.content.decode()
    page = bob.get(f"{address}?unfold=1").content.decode()
    opened = page.split('name="opened" value="')[1].split('"')[0]
    assert bob.post(f"{address}/decisions", approval(scene, request_id, opened=opened)).status_code == 302


def test_a_space_that_nobody_sees_in_the_target_is_spoken_of(scene: Scene, browse: Browse) -> None:
    stage = new_stage(scene.cast)
    fields = {"risk": "destructive", "name": "t_wipe", "resource_scope": "path:{args.x}"}
    install_specs(scene.cast.tenant.id, [command_spec("/usr/bin/true", "--", "{args.x}", **fields)], by="test")
    pages = []
    for path in ("old ", "old"):
        run_id = stage.outside(tools=["t_wipe"])
        stage.propose(run_id, ToolProposal("t_wipe", {"x": path}))
        pages.append(browse(scene.cast.bob).get(f"/approvals/{stage.pending(run_id).id}").content.decode())
    assert ["begins or ends with a space" in page for page in pages] == [True, False]


def test_a_folded_element_of_a_command_must_be_opened(scene: Scene, browse: Browse) -> None:
    stage = new_stage(scene.cast)
    spec = command_spec("/usr/bin/env", "python3", "-c", f"pass  # {'x' * 1000}", risk="write", name="t_program")
    install_specs(scene.cast.tenant.id, [spec], by="test")
    run_id = stage.outside(tools=["t_program"])
    stage.propose(run_id, ToolProposal("t_program", {}))
    address = f"/approvals/{stage.pending(run_id).id}"
    bob, body = browse(scene.cast.bob), {"verdict": "approve", "digest": stage.pending(run_id).digest}
    closed = bob.post(f"{address}/decisions", body)
    assert closed.status_code == 422
    assert "Open every folded value first: [3]" in closed.content.decode()
    assert 'name="opened" value="[3]"' in bob.get(f"{address}?unfold=1").content.decode()
    assert bob.post(f"{address}/decisions", {**body, "opened": "[3]"}).status_code == 302


def test_who_asked_cannot_approve_and_is_told_why(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    alice, address = browse(scene.cast.alice), f"/approvals/{request_id}"
    page = alice.get(address).content.decode()
    assert "You cannot decide this." in page
    assert "You asked for this; somebody else must decide." in page
    assert alice.post(f"{address}/decisions", approval(scene, request_id)).status_code == 403
    part = alice.get(address, headers={"HX-Request": "true", "HX-Target": "bar"}).content.decode()
    assert "You asked for this; somebody else must decide." in part
    assert "You asked for this" not in browse(scene.cast.bob).get(address).content.decode()


def test_who_asked_is_told_so_after_the_decision_too(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    address = f"/approvals/{request_id}"
    browse(scene.cast.bob).post(f"{address}/decisions", approval(scene, request_id))
    page = browse(scene.cast.alice).get(address).content.decode()
    assert "You asked for this; it was for somebody else to decide." in page


def test_a_changed_condition_shows_exactly_what_it_was_and_is(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    address = f"/approvals/{request_id}"
    INVOICES[request_of(scene.cast.bob.actor, request_id).snapshot["args"]["invoice_id"]] = "13950\u200b.00"
    with tenant_transaction(scene.cast.tenant.id):
        ApprovalRequest.objects.filter(id=request_id).update(checked_at=timezone.now() - timedelta(minutes=1))
    assert browse(scene.cast.bob).post(f"{address}/checks").status_code == 302
    table = browse(scene.cast.bob).get(address).content.decode().split('class="conditions"')[1].split("</table>")[0]
    row = table.split('class="differs"')[1].split("</tr>")[0]
    assert '"12400.00"' in row.replace("&quot;", '"')
    assert "U+200B" in row
    assert "1 invisible character" in row
    assert "could not be read" not in row


def test_another_tenant_sees_nothing(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    mallory = browse(scene.cast.mallory)
    for address in (
        f"/approvals/{waiting(scene, run_id)}",
        f"/runs/{run_id}",
        f"/runs/{run_id}/events",
        "/tools/scene_pay",
    ):
        assert mallory.get(address).status_code == 404


def test_the_second_decision_learns_who_was_first(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    address, form = f"/approvals/{request_id}/decisions", approval(scene, request_id)
    browse(scene.cast.bob).post(address, form)
    late = browse(scene.cast.carol).post(address, form)
    assert late.status_code == 409
    assert f"{scene.cast.bob.user.email} decided this already" in late.content.decode()


@pytest.mark.parametrize(("reason", "said"), [("x" * 2001, "at most 2000 characters"), ("a\0b", "cannot hold U+0000")])
def test_a_reason_that_cannot_be_kept_says_why(scene: Scene, browse: Browse, reason: str, said: str) -> None:
    request_id = waiting(scene, scene.run())
    form = {**approval(scene, request_id), "verdict": "reject", "reason": reason}
    answer = browse(scene.cast.bob).post(f"/approvals/{request_id}/decisions", form)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_a_rejection_with_a_reason_can_stop_the_run(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = waiting(scene, run_id)
    form = {"verdict": "reject", "preset": "The values are wrong.", "reason": "Wrong account.", "then": "stop"}
    digest = approval(scene, request_id)["digest"]
    assert (
        browse(scene.cast.bob).post(f"/approvals/{request_id}/decisions", form | {"digest": digest}).status_code == 302
    )
    run = queries.run(scene.cast.bob.actor, run_id).run
    assert (run.status, run.terminal_reason) == ("failed", "approval_rejected")
    page = browse(scene.cast.bob).get(f"/approvals/{request_id}").content.decode()
    assert "The values are wrong. Wrong account." in page


def test_a_changed_world_is_asked_again_with_old_and_new(scene: Scene, browse: Browse) -> None:
    run_id = scene.run()
    request_id = waiting(scene, run_id)
    bob, address = browse(scene.cast.bob), f"/approvals/{request_id}"
    invoice = request_of(scene.cast.bob.actor, request_id).snapshot["args"]["invoice_id"]
    paid = len(PAID)
    INVOICES[invoice] = "13950.00"
    bob.post(f"{address}/decisions", approval(scene, request_id))
    scene.work(run_id)
    assert len(PAID) == paid
    again = waiting(scene, run_id)
    assert again != request_id
    assert "this was asked again" in bob.get(address).content.decode()
    page = bob.get(f"/approvals/{again}").content.decode()
    assert "12400.00" in page
    assert "13950.00" in page


def test_reading_a_page_changes_nothing(scene: Scene, browse: Browse) -> None:
    request_id = waiting(scene, scene.run())
    bob = browse(scene.cast.bob)
    for step in ("approve", "reject", "nonsense"):
        assert bob.get(f"/approvals/{request_id}?step={step}").status_code == 200
    assert bob.get(f"/approvals/{request_id}/decisions").status_code == 405
    assert request_of(scene.cast.bob.actor, request_id).request.version == 1
