"""The admin pages of agents, as staff use them: nothing but the engine's operations changes an agent."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from pydantic import SecretStr

from agentops.tenancy.transaction import tenant_transaction
from runs.models import Agent, AgentVersion
from runs.operations.configuring import update_agent
from runs.operations.starting import start_run
from tests.cast import Cast
from tests.runs.scenario import Stage
from tools.credentials import set_credential

ADD = "/admin/runs/agent/add/"
SCRIPT = {"steps": [{"tool": "t_read", "args": {"account": {"$cel": "input.account"}}}], "answer": "Read."}


def filled(**changes: Any) -> dict[str, Any]:
    form = {"slug": "clerk", "name": "Clerk", "planner": "playbook", "tools": ["t_read", "t_pay"],
            "playbook": json.dumps(SCRIPT), "steps": "5", "enabled": "on"}  # fmt: skip
    return {name: value for name, value in {**form, **changes}.items() if value is not None}


def agent_of(cast: Cast) -> Agent:
    with tenant_transaction(cast.tenant.id):
        return Agent.objects.select_related("current").get(tenant_id=cast.tenant.id, slug="clerk")


def test_an_agent_is_made_changed_and_keeps_its_versions(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    page = carol.get(ADD).content.decode()
    assert "t_read" in page
    assert "Turns of the planner" in page
    added = carol.post(ADD, filled(money="100.00", currency="EUR"))
    assert added.status_code == 302, added.content.decode()
    agent = agent_of(stage.cast)
    assert agent.current is not None
    assert (agent.current.number, agent.current.created_by) == (1, stage.cast.carol.user.email)
    assert agent.current.budget == '{"money":{"amount":"100.00","currency":"EUR"},"steps":5}'
    address = f"/admin/runs/agent/{agent.id}/change/"
    assert carol.post(address, filled(steps="7", version=1)).status_code == 302
    page = carol.get(address).content.decode()
    assert "<b>v2</b>" in page
    assert "<del>-   &quot;budget&quot;" in page or "<del>" in page
    assert carol.get("/admin/runs/agent/?q=clerk").status_code == 200
    with tenant_transaction(stage.cast.tenant.id):
        assert AgentVersion.objects.filter(agent=agent).count() == 2


def test_an_agent_with_a_model_is_filled_in_field_by_field(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    set_credential(stage.cast.carol.actor, "models", "models.example:443", SecretStr("sk-0123456789"))
    model = {
        "model_provider": "compatible", "model_name": "own", "model_base_url": "https://models.example/v1",
        "model_credential": "models", "model_temperature": "0.2", "model_input": "1.5", "model_output": "2",
        "model_currency": "EUR", "model_instructions": "Pay what is due.",
    }  # fmt: skip
    added = carol.post(ADD, filled(planner="model", playbook="", money="5", currency="EUR", **model))
    assert added.status_code == 302, added.content.decode()
    agent = agent_of(stage.cast)
    assert agent.current is not None
    kept = json.loads(agent.current.model)
    assert (kept["temperature"], kept["prices"]) == (0.2, {"currency": "EUR", "input": 1.5, "output": 2})
    assert (kept["context_tokens"], kept["credential"]) == (32000, "models")
    address = f"/admin/runs/agent/{agent.id}/change/"
    form = carol.get(address).context["adminform"].form
    assert form.initial["model_instructions"] == "Pay what is due."
    assert "sk-0123456789" not in carol.get(address).content.decode()
    shown = carol.post(
        address, filled(planner="model", version=1, **{**model, "model_base_url": "https://else.example"})
    )
    assert "may only be sent to" in " ".join(shown.context["adminform"].form.errors["model_credential"])


def test_the_same_definition_again_is_no_new_version(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    carol.post(ADD, filled())
    address = f"/admin/runs/agent/{agent_of(stage.cast).id}/change/"
    assert carol.post(address, filled(name="Payments clerk", version=1)).status_code == 302
    agent = agent_of(stage.cast)
    assert agent.current is not None
    assert (agent.name, agent.current.number) == ("Payments clerk", 1)


def test_a_disabled_agent_starts_no_run(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    carol.post(ADD, filled())
    agent = agent_of(stage.cast)
    carol.post(f"/admin/runs/agent/{agent.id}/change/", filled(enabled=None, version=1))
    with pytest.raises(Exception, match="no enabled agent"):
        start_run(stage.cast.alice.actor, agent="clerk", task="x")
    carol.post("/admin/runs/agent/", {"action": "enable", "_selected_action": [str(agent.id)]})
    assert start_run(stage.cast.alice.actor, agent="clerk", task="x").created


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"slug": "A"}, "slug", "pattern"),
        ({"planner": "model"}, "model_provider", "needed"),
        ({"planner": "model", "model_provider": "ollama", "model_name": "m"}, "model_base_url", "where your ollama"),
        ({"name": ""}, "name", "required"),
        ({"playbook": "{"}, "playbook", "the document"),
        ({"playbook": ""}, "playbook", "A playbook is needed"),
        ({"playbook": '{"steps": [{"tool": "gone"}]}'}, "playbook", "/steps/0/tool: The agent does not have"),
        ({"playbook": '{"steps": [{"tool": "t_read", "when": "1 +"}]}'}, "playbook", "/steps/0/when: "),
        ({"playbook": '{"steps": [{"tool": "t_read", "for_each": "7"}]}'}, "playbook", "/steps/0/for_each: "),
        ({"tools": ["gone"]}, "tools", "not one of the available choices"),
        ({"steps": "-1"}, "steps", "greater than or equal to 1"),
        ({"steps": "1001"}, "steps", "less than or equal to 1000"),
        ({"tool_calls": "many"}, "tool_calls", "whole number"),
        ({"money": "5"}, "currency", "pattern"),
        ({"money": "-5", "currency": "EUR"}, "money", "greater than or equal to 0"),
        ({"money": "5", "currency": "USD", "tools": ["t_read", "t_pay_priced"]}, "currency", "in EUR"),
    ],
)
def test_a_fault_is_shown_at_its_field(stage: Stage, change: dict[str, Any], field: str, said: str) -> None:
    answer = stage.cast.carol.signed_in().post(ADD, filled(**change))
    assert answer.status_code == 200
    found = answer.context["adminform"].form.errors
    assert said in " ".join(found[field])
    with tenant_transaction(stage.cast.tenant.id):
        assert not Agent.objects.filter(slug__in=["clerk", "A"]).exists()


def test_an_edit_of_what_somebody_else_changed_says_so(stage: Stage) -> None:
    carol = stage.cast.carol.signed_in()
    carol.post(ADD, filled())
    update_agent(stage.cast.carol.actor, "clerk", budget={"steps": 9})
    page = carol.post(f"/admin/runs/agent/{agent_of(stage.cast).id}/change/", filled(version=1))
    assert "changed by somebody else" in page.content.decode()


def test_only_staff_of_the_same_team_see_an_agent(stage: Stage) -> None:
    stage.cast.carol.signed_in().post(ADD, filled())
    address = f"/admin/runs/agent/{agent_of(stage.cast).id}/change/"
    assert stage.cast.alice.signed_in().get(address).headers["Location"] == f"/admin/login/?next={address}"
    assert "Clerk" not in stage.cast.mallory.signed_in().get(address, follow=True).content.decode()
    assert "t_read" not in stage.cast.mallory.signed_in().get(ADD).content.decode()


def test_the_admin_has_no_page_for_what_only_the_machine_may_move() -> None:
    shown = {model._meta.label for model in admin.site._registry if model._meta.app_label in {"runs", "approvals"}}
    assert shown <= {"runs.Agent", "runs.TeamBudget", "approvals.PolicyVersion"}
    for label in ("runs.Run", "runs.Step", "runs.AgentVersion", "approvals.ApprovalRequest", "approvals.Decision"):
        assert apps.get_model(label) not in admin.site._registry
