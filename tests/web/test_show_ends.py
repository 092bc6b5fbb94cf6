"""Whatever happens to a request instead of its call, its page says so, and that nothing was sent."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.models import ApprovalRequest
from approvals.queries import request as request_of
from runs import queries
from runs.models import WorkItem
from runs.operations.cancelling import cancel
from runs.operations.deciding import decide
from tests.cast import Person
from tests.web.scene import PAID, Scene
from tools.operations import set_enabled


def reject(scene: Scene, run_id: UUID) -> None:
    vote(scene, run_id, Verdict.REJECT)


def let_it_expire(scene: Scene, run_id: UUID) -> None:
    with tenant_transaction(scene.cast.tenant.id):
        ApprovalRequest.objects.filter(run_id=run_id).update(expires_at=timezone.now())
    WorkItem.objects.filter(id=run_id).update(due_at=timezone.now())


def end_the_run(scene: Scene, run_id: UUID) -> None:
    cancel(scene.cast.alice.actor, run_id)


def approve_and_end_the_run(scene: Scene, run_id: UUID) -> None:
    vote(scene, run_id, Verdict.APPROVE)
    cancel(scene.cast.alice.actor, run_id)


def approve_and_disable_the_tool(scene: Scene, run_id: UUID) -> None:
    vote(scene, run_id, Verdict.APPROVE)
    set_enabled(scene.cast.carol.actor, "scene_pay", enabled=False)


ENDS: dict[Callable[[Scene, UUID], None], str] = {
    reject: "Nothing was sent. The votes say who rejected it and why.",
    let_it_expire: "Nobody decided in time, so nothing was sent.",
    end_the_run: "The run ended before anybody decided, so nothing was sent.",
    approve_and_end_the_run: "withdrawn before it ran",
    approve_and_disable_the_tool: "refused by a late check",
}


@pytest.mark.parametrize("happens", ENDS)
def test_the_page_shows_each_end_without_a_call(
    scene: Scene, browse: Callable[[Person], Client], happens: Callable[[Scene, UUID], None]
) -> None:
    run_id, paid = scene.run(), list(PAID)
    request = asked(scene, run_id)
    happens(scene, run_id)
    scene.work(run_id)
    page = browse(scene.cast.bob).get(f"/approvals/{request}").content.decode()
    assert ENDS[happens] in page
    assert '<li class="done"><span class="dot"></span>executing' not in page
    assert paid == PAID


def asked(scene: Scene, run_id: UUID) -> UUID:
    """The request that waits."""
    return queries.run(scene.cast.bob.actor, run_id).open_approvals[0]


def vote(scene: Scene, run_id: UUID, verdict: Verdict) -> None:
    """As bob does elsewhere."""
    bob, request = scene.cast.bob.actor, asked(scene, run_id)
    digest = request_of(bob, request).request.digest
    decide(bob, request, verdict=verdict, digest=digest, reason="no", then=Then.STOP)
