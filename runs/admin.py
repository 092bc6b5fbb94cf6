"""Admin pages of agents, for tool admins and owners. Runs, steps and their records are not here: only the engine
moves them, and the product's own pages show them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString

from agentops.tenancy.admin_versions import Version, history
from agentops.tenancy.scopes import OWNER
from agentops.tenancy.tenant_admin import TenantModelAdmin
from runs.admin_forms import AgentForm
from runs.budget_forms import FIELDS, TeamBudgetForm
from runs.model_forms import MODEL_FIELDS
from runs.models import Agent, AgentVersion, TeamBudget
from runs.operations.budgeting import keep_team_budget
from runs.operations.configuring import add_agent, change_agent, switch_agent
from tools.domain.canonical import parse
from tools.domain.writing import written


@admin.register(Agent)
class AgentAdmin(TenantModelAdmin):
    """Agents; each saved change is a new immutable version."""

    form = AgentForm
    readonly_fields = ("history",)
    list_display = ("slug", "title", "planner", "tools", "version", "state")
    list_select_related = ("current",)
    search_fields = ("slug", "name", "description")
    ordering = ("slug",)
    actions = ("enable", "disable")

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Versions and the switch come with the first save."""
        first = (
            ("slug", "name", "description") if obj is None else ("slug", "name", "description", "enabled", "version")
        )
        whole: list[Any] = [
            ("What it is", {"fields": first}),
            ("What it may use", {"fields": ("tools",)}),
            ("How it plans", {"fields": ("planner", "playbook")}),
            ("The model that plans", {"fields": MODEL_FIELDS, "description": "Read for the planner of that name."}),
            (
                "What it may spend",
                {"fields": FIELDS, "description": "A run may be started with less, never with more."},
            ),
        ]
        return whole if obj is None else [*whole, ("Versions", {"fields": ("history",)})]

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        actor, definition = self.actor(request), form.definition()
        if not change:
            saved = add_agent(actor, definition)
            obj.pk, obj.tenant_id, obj.current = saved.pk, saved.tenant_id, saved.current
            obj._state.adding = False
            return
        change_agent(actor, obj.slug, definition, version=form.cleaned_data.get("version"))
        switch_agent(actor, obj.slug, enabled=form.cleaned_data["enabled"])

    @admin.display(description="Versions")
    def history(self, agent: Agent) -> SafeString:
        rows = AgentVersion.objects.filter(tenant_id=agent.tenant_id, agent=agent).order_by("-number")[:50]
        return history([_shown(row, agent) for row in rows])

    @admin.display(description="Title", ordering="name")
    def title(self, agent: Agent) -> str:
        return agent.name

    @admin.display(description="Planner")
    def planner(self, agent: Agent) -> str:
        return agent.current.planner if agent.current else ""

    @admin.display(description="Tools")
    def tools(self, agent: Agent) -> str:
        return ", ".join(agent.current.tools) if agent.current else ""

    @admin.display(description="Version")
    def version(self, agent: Agent) -> str:
        return f"v{agent.current.number}" if agent.current else ""

    @admin.display(description="State", ordering="enabled")
    def state(self, agent: Agent) -> str:
        return "enabled" if agent.enabled else "disabled"

    @admin.action(description="Enable")
    def enable(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        for agent in queryset:
            switch_agent(self.actor(request), agent.slug, enabled=True)

    @admin.action(description="Disable: it starts no new runs")
    def disable(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        for agent in queryset:
            switch_agent(self.actor(request), agent.slug, enabled=False)


@admin.register(TeamBudget)
class TeamBudgetAdmin(TenantModelAdmin):
    """The team's default budget, for owners: one row, so its list is its form."""

    form = TeamBudgetForm
    roles = frozenset({OWNER})
    fieldsets = (
        (
            "What an agent may spend that says nothing itself",
            {"fields": FIELDS, "description": "It holds for runs that start from now on."},
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Only the first time."""
        return super().has_add_permission(request) and not self.get_queryset(request).exists()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The form of the one row."""
        row = self.get_queryset(request).first()
        return redirect("admin:runs_teambudget_change", row.pk) if row else redirect("admin:runs_teambudget_add")

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Without a button for another one."""
        return super().render_change_form(request, context | {"show_save_and_add_another": False}, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: TeamBudget, form: Any, change: bool) -> None:
        saved = keep_team_budget(self.actor(request), form.budget())
        obj.pk, obj.tenant_id, obj.budget = saved.pk, saved.tenant_id, saved.budget
        obj._state.adding = False


def _shown(row: AgentVersion, agent: Agent) -> Version:
    whole = {"planner": row.planner, "tools": row.tools, "budget": parse(row.budget)}
    if row.playbook:
        whole["playbook"] = parse(row.playbook)
    if row.model:
        whole["model"] = parse(row.model)
    return Version(row.number, row.id == agent.current_id, row.created_at, row.created_by, written(whole))
