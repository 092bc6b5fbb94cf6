"""A team's default budget: between the product's and an agent's, edited by owners, for runs that start from then on."""

from typing import Any

import pytest

from agentops.tenancy.errors import ScopeMissing
from agentops.tenancy.members import set_roles
from agentops.tenancy.models import Change
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import BudgetAboveLimit, InvalidBudget
from runs.models import TeamBudget
from runs.operations.budgeting import set_team_budget
from tests.runs.scenario import Stage
from tools.domain.canonical import canonical, parse

FORM = "/admin/runs/teambudget/"
EUR = {"amount": "100.00", "currency": "EUR"}
MONEY = canonical(EUR)


def limits(stage: Stage, slug: str, **start: Any) -> Any:
    return parse(stage.run(stage.start(slug, **start)).limits)


def test_the_agent_comes_before_the_team_and_the_team_before_the_product(stage: Stage) -> None:
    plain, own = stage.agent("plain", []), stage.agent("own", [], budget={"steps": 30, "records": 7})
    before = stage.start(plain)
    assert limits(stage, plain) == {"steps": 20, "tool_calls": 40, "seconds": 86_400}
    set_team_budget(stage.cast.carol.actor, {"steps": 9, "records": 500, "money": EUR})
    team = {"steps": 9, "tool_calls": 40, "seconds": 86_400, "records": 500, "money": EUR}
    assert limits(stage, plain) == team
    assert limits(stage, own) == {**team, "steps": 30, "records": 7}
    assert limits(stage, plain, budget={"steps": 4}) == {**team, "steps": 4}
    with pytest.raises(BudgetAboveLimit):
        stage.start(plain, budget={"steps": 10})
    assert parse(stage.run(before).limits) == {"steps": 20, "tool_calls": 40, "seconds": 86_400}


def test_an_owner_sets_and_changes_it_in_the_admin_and_the_log_keeps_each_change(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    page = carol.get(FORM, follow=True)
    assert page.redirect_chain == [(f"{FORM}add/", 302)]
    assert "Empty: 20." in page.content.decode()
    for steps in ("9", "9", "12"):
        address = carol.get(FORM)["Location"]
        saved = carol.post(address, {"steps": steps, "money": "100.00", "currency": "EUR"}, follow=True)
        assert saved.context["adminform"].form["steps"].value() == int(steps)
    with tenant_transaction(stage.tenant_id):
        assert [row.budget for row in TeamBudget.objects.all()] == [f'{{"money":{MONEY},"steps":12}}']
        rows = list(Change.objects.filter(kind="budget.saved").order_by("seq"))
    assert [parse(row.data) for row in rows] == [
        {"budget": f'{{"money":{MONEY},"steps":{steps}}}'} for steps in (9, 12)
    ]
    assert {row.actor for row in rows} == {stage.cast.carol.user.email}
    assert carol.get(f"{FORM}add/").status_code == 403


def test_the_form_of_an_agent_says_what_applies_where_it_says_nothing(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    before = carol.get("/admin/runs/agent/add/").content.decode()
    assert "Turns of the planner, 1 to 1,000. Empty: 20." in before
    assert "its calls may move. Empty: no limit." in before
    set_team_budget(stage.cast.carol.actor, {"steps": 9, "tokens": 50_000, "money": EUR})
    after = carol.get("/admin/runs/agent/add/").content.decode()
    assert "Turns of the planner, 1 to 1,000. Empty: 9." in after
    assert "an external planner reports. Empty: 50,000." in after
    assert "its calls may move. Empty: 100.00 EUR." in after


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"steps": "0"}, "steps", "greater than or equal to 1"),
        ({"seconds": "-1"}, "seconds", "greater than or equal to 1"),
        ({"money": "5"}, "currency", "pattern"),
        ({"money": "-5", "currency": "EUR"}, "money", "greater than or equal to 0"),
    ],
)
def test_a_fault_is_shown_at_its_field(stage: Stage, given: dict[str, str], field: str, said: str) -> None:
    answer = stage.cast.carol.signed_in().post(f"{FORM}add/", given)
    assert said in " ".join(answer.context["adminform"].form.errors[field])
    with tenant_transaction(stage.tenant_id):
        assert not TeamBudget.objects.exists()


def test_only_owners_of_the_team_read_or_change_it(stage: Stage) -> None:
    cast = stage.cast
    with pytest.raises(InvalidBudget):
        set_team_budget(cast.carol.actor, {"stepz": 1})
    row = set_team_budget(cast.carol.actor, {"steps": 9})
    set_roles(cast.carol.actor, user_id=cast.bob.user.id, roles=["tool_admin"])
    with pytest.raises(ScopeMissing):
        set_team_budget(cast.bob.actor, {"steps": 900})
    assert cast.bob.signed_in().post(f"{FORM}{row.id}/change/", {"steps": "900"}).status_code == 403
    assert cast.mallory.signed_in().get(FORM)["Location"] == f"{FORM}add/"
    assert cast.mallory.signed_in().post(f"{FORM}{row.id}/change/", {"steps": "900"}).status_code == 302
    with tenant_transaction(stage.tenant_id):
        assert [kept.budget for kept in TeamBudget.objects.all()] == ['{"steps":9}']
