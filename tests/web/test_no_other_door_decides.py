"""The administration decides nothing: whoever posts whatever to it, a request waits on for its own page and REST."""

from collections.abc import Callable, Iterator

import pytest
from django.apps import apps
from django.test import Client

from agentops.tenancy.models import User
from agentops.tenancy.scopes import APPROVER, OWNER, TOOL_ADMIN
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest
from runs.models import Step
from tests.cast import Cast, Person, new_person
from tests.web.scene import PAID, Scene


def _owner(cast: Cast) -> User:
    return cast.carol.user


def _every_role(cast: Cast) -> User:
    return new_person(cast.tenant, "dana", [OWNER, TOOL_ADMIN, APPROVER]).user


@pytest.mark.parametrize("who", [_owner, _every_role])
def test_no_address_of_the_administration_decides(scene: Scene, who: Callable[[Cast], User]) -> None:
    run_id, paid = scene.run(), list(PAID)
    before = _state(scene)
    (request,) = before
    client = Client(raise_request_exception=False)
    client.force_login(who(scene.cast), "django.contrib.auth.backends.ModelBackend")
    said = {
        "action": "approve", "_selected_action": request[0], "select_across": "1", "index": "0",
        "verdict": "approve", "status": "approved", "digest": request[2], "post": "yes", "_save": "Save",
    }  # fmt: skip
    answers = [client.post(address, said).status_code for address in _addresses(request[0])]
    assert len(answers) > 40
    scene.work(run_id)
    assert _state(scene) == before
    assert paid == PAID


def test_a_role_that_only_administers_decides_at_no_door(scene: Scene, browse: Callable[[Person], Client]) -> None:
    scene.run()
    before = _state(scene)
    ((request, _, digest, *_),) = before
    admin = new_person(scene.cast.tenant, "adam", [TOOL_ADMIN])
    body = {"verdict": "approve", "digest": digest}
    assert browse(admin).post(f"/approvals/{request}/decisions", body).status_code == 403
    headers = {"Authorization": f"Bearer {admin.raw_key}"}
    answer = Client().post(f"/api/v1/approvals/{request}/decisions", body, "application/json", headers=headers)
    assert answer.status_code == 403
    assert _state(scene) == before


def _addresses(request: str) -> Iterator[str]:
    """What the administration has, or would have, of everything around runs and approvals."""
    for name in ("approvals", "runs"):
        for model in apps.get_app_config(name).get_models():
            base = f"/admin/{name}/{model._meta.model_name}/"
            yield from (base, f"{base}add/", f"{base}{request}/change/", f"{base}{request}/delete/")


def _state(scene: Scene) -> list[tuple[str, str, str, int, str]]:
    with tenant_transaction(scene.cast.tenant.id):
        steps = {step.id: step.status for step in Step.objects.all()}
        return [(str(r.id), r.status, r.digest, r.version, steps[r.step_id]) for r in ApprovalRequest.objects.all()]
