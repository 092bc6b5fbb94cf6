"""What changed between the approval and the claim is named exactly, costs nothing, and runs nothing."""

import json
from collections.abc import Callable
from uuid import UUID

import pytest

from agentops.tenancy.access import authenticate_key
from agentops.tenancy.keys import create_key, disable_service_account, revoke_key
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import ApiKey, Tenant, User
from tests.cast import Person, new_person
from tests.runs.scenario import Stage
from tools.declare import declared
from tools.operations import install_specs, set_enabled

WORKS = ("runs:write", "ledger:read", "ledger:write")


def _approved(stage: Stage, dana: Person) -> UUID:
    """A payment that dana's own key started and bob approved."""
    actor = authenticate_key(create_key(dana.actor, name="k", scopes=WORKS).raw)
    slug = stage.agent("payer", [{"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug, by=actor)
    stage.work(run_id)
    stage.approve(run_id)
    return run_id


def _disabled(stage: Stage, _: Person) -> None:
    set_enabled(stage.cast.carol.actor, "t_pay_plain", enabled=False)


def _other_schema(stage: Stage, _: Person) -> None:
    spec = declared()["t_pay_plain"].spec
    schema = {**spec.input_schema, "title": "Another payment"}
    install_specs(stage.tenant_id, [spec.model_copy(update={"input_schema": schema})], by="test")


def _narrowed(_: Stage, dana: Person) -> None:
    ApiKey.objects.filter(user=dana.user, name="k").update(scopes=["runs:write", "ledger:read"])


def _demoted(stage: Stage, dana: Person) -> None:
    set_roles(stage.cast.carol.actor, user_id=dana.user.id, roles=["viewer"])


def _revoked(stage: Stage, dana: Person) -> None:
    revoke_key(stage.cast.carol.actor, key_id=ApiKey.objects.get(user=dana.user, name="k").id)


def _key_expired(_: Stage, dana: Person) -> None:
    ApiKey.objects.filter(user=dana.user).update(expires_at="2020-01-01T00:00:00Z")


def _removed(stage: Stage, dana: Person) -> None:
    remove_member(stage.cast.carol.actor, user_id=dana.user.id)


def _deactivated(_: Stage, dana: Person) -> None:
    User.objects.filter(id=dana.user.id).update(is_active=False)


def _suspended(stage: Stage, _: Person) -> None:
    Tenant.objects.filter(id=stage.tenant_id).update(status=Tenant.SUSPENDED)


def _denied(stage: Stage, _: Person) -> None:
    stage.policy({"name": "freeze", "when": "true", "effect": "deny", "reason": "Payments are frozen."})


CAUSES = [
    (_disabled, "tool_denied", "was disabled"),
    (_other_schema, "schema_drift", "was changed"),
    (_narrowed, "tool_denied", "left the scopes"),
    (_demoted, "tool_denied", "left the scopes"),
    (_revoked, "tool_denied", "key was revoked"),
    (_key_expired, "tool_denied", "key has expired"),
    (_removed, "tool_denied", "no longer a member"),
    (_deactivated, "tool_denied", "no longer a member"),
    (_suspended, "tool_denied", "suspended"),
    (_denied, "policy_denied", "Payments are frozen."),
]


@pytest.mark.parametrize(("change", "code", "says"), CAUSES, ids=[c[0].__name__.strip("_") for c in CAUSES])
def test_the_claim_says_what_has_changed(
    stage: Stage, change: Callable[[Stage, Person], None], code: str, says: str
) -> None:
    dana = new_person(stage.cast.tenant, "dana", ["operator"])
    run_id = _approved(stage, dana)
    change(stage, dana)
    stage.work(run_id)
    (step,) = stage.steps(run_id)
    refusal = stage.refusal(step)
    assert (step.status, refusal["code"]) == ("refused", code)
    assert says in refusal["message"]
    (staled,) = [json.loads(e.data) for e in stage.events(run_id) if e.kind == "step.staled"]
    assert (staled["caught_by"], staled["message"]) == (code, refusal["message"])
    assert stage.world.paid == []
    assert stage.budget(run_id)[1].tool_calls == 0
    assert refusal["message"] in stage.run(run_id).ended_because


def test_a_disabled_service_account_starts_nothing_more(stage: Stage) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    disable_service_account(stage.cast.carol.actor, service_account_id=stage.cast.service.account.id)
    stage.work(run_id)
    (step,) = stage.steps(run_id)
    assert "service account is disabled" in stage.refusal(step)["message"]
    assert stage.world.paid == []


@pytest.mark.parametrize(
    ("on_change", "statuses", "status"),
    [
        ("ask_again", ["held"], "awaiting_approval"),
        ("replan", ["refused"], "planning"),
        ("fail", ["refused"], "failed"),
    ],
)
def test_a_changed_condition_runs_nothing_and_goes_on_as_the_tool_says(
    stage: Stage, on_change: str, statuses: list[str], status: str
) -> None:
    spec = declared()["t_pay"].spec
    (condition,) = spec.preconditions
    changed = condition.model_copy(update={"on_change": on_change})
    install_specs(stage.tenant_id, [spec.model_copy(update={"preconditions": (changed,)})], by="test")
    run_id = stage.outside()
    stage.propose(run_id, stage.pay(tool="t_pay"))
    stage.approve(run_id)
    stage.world.amount = "1.00"
    stage.work(run_id)
    assert (stage.statuses(run_id), stage.run(run_id).status) == (statuses, status)
    assert stage.world.paid == []
    if on_change == "fail":
        assert stage.run(run_id).terminal_reason == "tool_failed"
    if on_change == "ask_again":
        assert "“account unchanged”" in stage.pending(run_id).reasons[0]


def test_two_principals_and_two_runs_never_share_a_key(stage: Stage) -> None:
    runs = [stage.outside() for _ in range(2)]
    first = [stage.propose(run_id, stage.pay())[0] for run_id in runs]
    slug = stage.agent("payer", [{"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}])
    for actor in (stage.cast.alice.actor, stage.cast.carol.actor):
        run_id = stage.start(slug, by=actor)
        stage.work(run_id)
        first.append(stage.steps(run_id)[0])
    assert all(step.status == "held" for step in first), "nobody's call is a repetition of somebody else's"
    assert len({step.idempotency_key for step in first}) == 4
    assert len({step.fingerprint for step in first}) == 3, "one for each principal"
