"""A team's policy is edited in the admin: checked when it is saved, kept as versions, in force at once."""

from typing import Any

import pytest
from django.utils.html import strip_tags

from agentops.tenancy.errors import ScopeMissing
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import Change
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.errors import InvalidPolicy
from approvals.domain.policy import NAMES, Facts, Policy, judge
from approvals.domain.rules import read_policy
from approvals.models import PolicyVersion
from approvals.operations import set_policy
from tests.cast import Cast
from tests.runs.scenario import Stage, new_stage
from tools.domain.canonical import parse

ADD = "/admin/approvals/policyversion/add/"
LIST = "/admin/approvals/policyversion/"
FREEZE = {"name": "freeze", "when": "tool.risk == 'destructive'", "effect": "deny", "reason": "Payments are frozen."}


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)


def filled(*rules: dict[str, Any], preset: str = "careful", version: int = 0, agree: int | str = 1) -> dict[str, Any]:
    form: dict[str, Any] = {"preset": preset, "version": version, "reconcile_quorum": agree}
    for number, rule in enumerate([*rules, {}, {}]):
        for part in ("name", "when", "effect", "group", "quorum", "expires_in", "reason"):
            form[f"{part}_{number}"] = rule.get(part, {"effect": "require_approval", "quorum": 1}.get(part, ""))
    return form


def versions(cast: Cast) -> list[PolicyVersion]:
    with tenant_transaction(cast.tenant.id):
        return list(PolicyVersion.objects.order_by("number"))


def rule(**changes: Any) -> dict[str, Any]:
    return {"name": "one", "when": "true", "effect": "deny", **changes}


def changes(cast: Cast) -> list[Any]:
    with tenant_transaction(cast.tenant.id):
        return [parse(row.data) for row in Change.objects.filter(kind="policy.saved").order_by("seq")]


def test_rules_are_added_changed_and_kept_as_versions(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    assert "careful" in carol.get(ADD).content.decode()
    assert carol.post(ADD, filled(FREEZE)).status_code == 302
    page = carol.get(ADD).content.decode()
    assert "tool.risk == &#x27;destructive&#x27;" in page
    assert 'name="name_2"' in page
    assert carol.post(ADD, filled({**FREEZE, "expires_in": 60}, preset="strict", version=1)).status_code == 302
    first, second = versions(cast)
    assert (first.preset, second.preset, second.created_by) == ("careful", "strict", cast.carol.user)
    page = carol.get(f"{LIST}{second.id}/change/").content.decode()
    assert "<ins>" in page
    assert 'name="_save"' not in page
    assert "policy v2" in carol.get(LIST).content.decode()


def test_saving_the_same_again_is_no_version_and_an_old_page_does_not_overwrite(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    carol.post(ADD, filled(FREEZE))
    assert carol.post(ADD, filled(FREEZE, version=1)).status_code == 302
    late = carol.post(ADD, filled(version=0))
    assert "changed by somebody else" in late.content.decode()
    assert [row.number for row in versions(cast)] == [1]


def test_how_many_must_agree_is_chosen_shown_recorded_and_kept_by_a_save_of_rules_alone(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    assert carol.post(ADD, filled(FREEZE)).status_code == 302
    assert carol.post(ADD, filled(FREEZE, version=1, agree=2)).status_code == 302
    assert carol.get(ADD).context["adminform"].form["reconcile_quorum"].value() == 2
    made = set_policy(cast.carol.actor, preset="careful", rules=[])
    assert [row.reconcile_quorum for row in versions(cast)] == [1, 2, 2]
    page = strip_tags(carol.get(f"{LIST}{made.id}/change/").content.decode())
    assert "-   &quot;reconcile_quorum&quot;: 1," in page
    assert "+   &quot;reconcile_quorum&quot;: 2," in page
    assert [change["reconcile_quorum"] for change in changes(cast)] == [1, 2, 2]
    assert len({change["content_hash"] for change in changes(cast)}) == 3


@pytest.mark.parametrize("agree", ["", 0, 3])
def test_one_or_two_people_agree_and_no_other_number(cast: Cast, agree: int | str) -> None:
    form = cast.carol.signed_in().post(ADD, filled(agree=agree)).context["adminform"].form
    assert set(form.errors) == {"reconcile_quorum"}
    with pytest.raises(InvalidPolicy):
        set_policy(cast.carol.actor, preset="careful", rules=[], reconcile_quorum=3)
    assert versions(cast) == []


@pytest.mark.parametrize(
    ("groups", "decides"),
    [
        ([None, "approver"], "approver"),
        (["approver", "owner"], "owner"),
        (["owner", None, "approver"], "owner"),
        (["owner", "wizards"], "wizards"),
        ([None], None),
    ],
)
def test_where_rules_name_several_groups_the_strictest_one_decides(
    groups: list[str | None], decides: str | None
) -> None:
    rules = [rule(name=f"rule {n}", effect="require_approval", group=group) for n, group in enumerate(groups)]
    facts = Facts(tool="pay", risk="write", is_effect=True, tainted=False, args={}, run={}, principal="p", tenant="t")
    for order in (rules, rules[::-1]):
        judged = judge(Policy.model_validate({"rules": order}), facts)
        assert (judged.effect, judged.group) == ("require_approval", decides)


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        (rule(when="tool.risk =="), "when_0", "Syntax error"),
        (rule(when="tools.risk == 'read'"), "when_0", "known are args, budget"),
        (rule(when=""), "when_0", "at least 1"),
        (rule(name=""), "name_0", "at least 1"),
        (rule(effect="maybe"), "effect_0", "not one of the available choices"),
        (rule(group="wizards"), "group_0", "not one of the available choices"),
        (rule(quorum=0), "quorum_0", "greater than or equal to 1"),
        (rule(quorum=21), "quorum_0", "less than or equal to 20"),
        (rule(expires_in=5), "expires_in_0", "greater than or equal to 60"),
    ],
)
def test_a_fault_is_shown_at_its_field(cast: Cast, given: dict[str, Any], field: str, said: str) -> None:
    answer = cast.carol.signed_in().post(ADD, filled(given))
    assert answer.status_code == 200
    assert said in " ".join(answer.context["adminform"].form.errors[field])
    assert versions(cast) == []


@pytest.mark.parametrize(
    ("rules", "pointer", "said"),
    [
        ([rule(when="1 +")], "/rules/0/when", "Syntax error"),
        ([rule(when="1 + 1")], "/rules/0/when", "neither true nor false"),
        ([rule(when="'deny' + '!'")], "/rules/0/when", "neither true nor false"),
        ([rule(when="1 + 'a'")], "/rules/0/when", "could not be evaluated"),
        ([rule(), rule()], "/rules/1/name", "Another rule"),
        ([rule(group="wizards")], "/rules/0/group", "Nobody could decide"),
        ([rule(effect="maybe")], "/rules/0/effect", "'allow'"),
        ([rule(surprise=1)], "/rules/0/surprise", "not known"),
        ([rule(quorum=0)], "/rules/0/quorum", "greater"),
        ("nonsense", "/rules", "tuple"),
    ],
)
def test_a_broken_policy_is_refused_by_its_place(rules: Any, pointer: str, said: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        read_policy({"preset": "careful", "rules": rules})
    found = {fault["pointer"]: fault["detail"] for fault in caught.value.details["errors"]}
    assert said in found[pointer]


def test_the_block_of_a_fault_is_found_behind_a_removed_one(cast: Cast) -> None:
    form = filled(rule(name="", when=""), rule(when="1 +"))
    errors = cast.carol.signed_in().post(ADD, form).context["adminform"].form.errors
    assert set(errors) == {"when_1"}


def test_a_rule_sees_every_name_that_it_may_use() -> None:
    facts = Facts(tool="pay", risk="read", is_effect=False, tainted=False, args={}, run={}, principal="p", tenant="t")
    for name in sorted(NAMES):
        policy = Policy.model_validate({"rules": [rule(when=f"type({name}) != null_type")]})
        assert judge(policy, facts).effect == "deny", name


@pytest.mark.parametrize(("effect", "expected"), [("deny", "deny"), ("allow", "require_approval")])
@pytest.mark.parametrize("when", ["args.amount", "args.amount + 1", "args", "args.gone"])
def test_a_rule_that_says_neither_yes_nor_no_asks_or_denies(when: str, effect: str, expected: str) -> None:
    facts = Facts(
        tool="pay", risk="read", is_effect=True, tainted=False, args={"amount": 5}, run={}, principal="p", tenant="t"
    )
    judged = judge(Policy.model_validate({"rules": [rule(when=when, effect=effect)]}), facts)
    assert judged.effect == expected
    assert "could not be evaluated, so it asks" in " ".join(judged.reasons)


def test_a_rule_is_in_force_for_new_proposals_and_again_at_claim(stage: Stage) -> None:
    call = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}
    slug = stage.agent("payer", [call])
    held = stage.start(slug)
    stage.work(held)
    set_policy(stage.cast.carol.actor, preset="careful", rules=[FREEZE])
    stage.approve(held)
    stage.work(held)
    assert "Payments are frozen." in str(stage.steps(held)[0].refusal)
    refused = stage.start(slug)
    stage.work(refused)
    assert stage.statuses(refused) == ["refused"]
    assert stage.world.paid == []


def test_a_rule_looks_at_budgets_time_and_history(stage: Stage) -> None:
    rules = [
        rule(name="spent", when="budget.used.tool_calls >= 1 && budget.limit.steps > 0 && size(history) > 1"),
        rule(name="clock", when="time.hour > 23 || time.weekday > 7"),
    ]
    set_policy(stage.cast.carol.actor, preset="strict", rules=rules)
    read = {"tool": "t_read", "args": {"account": stage.account}}
    run_id = stage.start(stage.agent("reader", [read, {"tool": "t_note", "args": {"text": "x"}, "on_error": "stop"}]))
    stage.work(run_id)
    assert stage.statuses(run_id) == ["succeeded", "refused"]
    assert "spent" in str(stage.steps(run_id)[1].refusal)


def test_a_group_that_nobody_is_in_says_so_and_fails_closed(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    asks = rule(effect="require_approval", when="tool.risk == 'destructive'", group="approver", quorum=2)
    carol.post(ADD, filled(asks))
    call = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}
    run_id = stage.start(stage.agent("payer", [call]))
    stage.work(run_id)
    page = f"/approvals/{stage.pending(run_id).id}"
    short = "Only 1 person could approve this, and it needs 2"
    assert short in carol.get(page).content.decode()
    remove_member(stage.cast.carol.actor, user_id=stage.cast.bob.user.id)
    assert "Nobody can approve this" in carol.get(page).content.decode()
    set_roles(stage.cast.carol.actor, user_id=stage.cast.carol.user.id, roles=["owner", "approver"])
    assert short in carol.get(page).content.decode()
    assert stage.statuses(run_id) == ["held"]


def test_saving_a_rule_that_asks_for_more_than_there_are_warns(cast: Cast) -> None:
    asks = rule(effect="require_approval", group="owner", quorum=3)
    page = cast.carol.signed_in().post(ADD, filled(asks), follow=True).content.decode()
    assert "only 1 could decide" in page


def test_only_staff_of_the_team_read_or_change_its_policy(cast: Cast) -> None:
    made = set_policy(cast.carol.actor, preset="strict", rules=[FREEZE])
    with pytest.raises(ScopeMissing):
        set_policy(cast.alice.actor, preset="strict", rules=[])
    assert cast.bob.signed_in().get(ADD).headers["Location"] == f"/admin/login/?next={ADD}"
    mallory = cast.mallory.signed_in()
    assert "frozen" not in mallory.get(f"{LIST}{made.id}/change/", follow=True).content.decode()
    assert "freeze" not in mallory.get(ADD).content.decode()
    carol = cast.carol.signed_in()
    assert carol.post(f"{LIST}{made.id}/change/", filled()).status_code == 403
    assert carol.post(f"{LIST}{made.id}/delete/", {"post": "yes"}).status_code == 403
    assert [row.preset for row in versions(cast)] == ["strict"]
