"""Admin pages of workflows, for tool admins and owners."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from agentops.tenancy.admin_versions import Version, history
from agentops.tenancy.tenant_admin import TenantModelAdmin
from tools.admin_fields import ExactJson
from tools.domain.canonical import parse
from tools.domain.workflow import HANDLE_KEY
from tools.domain.writing import written
from tools.models import Workflow
from tools.workflow_changes import add_workflow, change_workflow
from tools.workflow_handles import read_workflow
from tools.workflow_queries import list_workflow_versions

_PARTS = ("name", "description", "machine", "bindings", "state_handle_key")
_MACHINE = {
    "id": "invoice",
    "initial": "draft",
    "states": {"draft": {"on": {"SUBMIT": "review"}}, "review": {"type": "final"}},
}


class WorkflowForm(forms.ModelForm):  # type: ignore[type-arg]
    """One definition; saving a changed one makes a new immutable version."""

    name = forms.CharField(max_length=40, help_text="Small letters, digits, underscores. Kept for good.")
    description = forms.CharField(required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 2}))
    machine = ExactJson(
        rows=22,
        initial=_MACHINE,
        help_text="The state machine as XState v5 writes it: initial, states, on, type final or parallel, onDone. "
        "Guards, actions, after and invoke are not run and refused.",
    )
    bindings = ExactJson(
        rows=10,
        required=False,
        empty=[],
        help_text='JSON: [{"tool": "invoice_discharge", "states": ["approved"], "transition": "DISCHARGE"}]. '
        "A bound tool can be seen and called in its states alone; tools that are bound nowhere always can.",
    )
    state_handle_key = forms.CharField(
        max_length=60,
        initial=HANDLE_KEY,
        label="Handle argument",
        help_text="The argument by which an MCP call names its run, where the address does not.",
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Workflow
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.current is not None:
            spec: Any = parse(self.instance.current.spec)
            self.initial.update({part: spec[part] for part in _PARTS})
            self.initial["version"] = self.instance.current.number
            self.fields["name"].disabled = True

    def definition(self) -> dict[str, Any]:
        """What was filled in, as `parse_workflow` reads it."""
        return {part: self.cleaned_data[part] for part in _PARTS}


@admin.register(Workflow)
class WorkflowAdmin(TenantModelAdmin):
    """Workflows; each saved change is a new immutable version."""

    form = WorkflowForm
    readonly_fields = ("history",)
    list_display = ("name", "states", "tools", "version", "updated_at")
    list_select_related = ("current",)
    search_fields = ("name", "current__spec")
    ordering = ("name",)
    actions = ()

    def get_fieldsets(self, request: HttpRequest, obj: Workflow | None = None) -> Any:
        """Versions come with the first save."""
        whole: list[Any] = [
            ("What it is", {"fields": ("name", "description")}),
            ("States", {"fields": ("machine",)}),
            ("Tools on the states", {"fields": ("bindings", "state_handle_key")}),
        ]
        return whole if obj is None else [*whole, ("Versions", {"fields": ("history", "version")})]

    def view_on_site(self, obj: Workflow) -> str:
        """The workflow's own page, where it is drawn."""
        return reverse("workflow", args=[obj.name])

    def save_model(self, request: HttpRequest, obj: Workflow, form: Any, change: bool) -> None:
        actor, definition = self.actor(request), form.definition()
        if change:
            change_workflow(actor, obj.name, definition, version=form.cleaned_data.get("version"))
            return
        version = add_workflow(actor, definition)
        obj.pk, obj.name, obj.tenant_id = version.workflow_id, version.workflow.name, version.tenant_id
        obj.current = version
        obj._state.adding = False

    @admin.display(description="Versions")
    def history(self, workflow: Workflow) -> SafeString:
        rows = list_workflow_versions(workflow.tenant_id, workflow.name)
        return history(
            [Version(r.number, r.current, r.created_at, r.created_by, written(parse(r.spec.text))) for r in rows]
        )

    @admin.display(description="States")
    def states(self, workflow: Workflow) -> str:
        chart = read_workflow(workflow.current.spec).chart if workflow.current else None
        return ", ".join(path for path in chart.states if path) if chart else ""

    @admin.display(description="Tools")
    def tools(self, workflow: Workflow) -> str:
        return ", ".join(read_workflow(workflow.current.spec).bound) if workflow.current else ""

    @admin.display(description="Version")
    def version(self, workflow: Workflow) -> str:
        return f"v{workflow.current.number}" if workflow.current else ""
