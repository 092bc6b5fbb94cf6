"""Admin pages of tools and credentials, for tool admins and owners."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from pydantic import SecretStr

from agentops.tenancy.admin_versions import Version, history
from agentops.tenancy.tenant_admin import TenantModelAdmin
from tools.admin_forms import CredentialForm, form_of, ordered
from tools.changes import add_tool, change_tool, switch_tool
from tools.credentials import keep_credential
from tools.models import Credential, Tool
from tools.queries import list_versions
from tools.registry import read_spec
from tools.workflow_admin import WorkflowAdmin

__all__ = ["CredentialAdmin", "ToolAdmin", "WorkflowAdmin"]

KINDS = {"http": "an HTTP request", "python": "a function in code", "command": "a command in a sandbox"}
_ABOUT = ("name", "title", "description", "compact_description", "risk", "required_scope")
_REQUEST = ("method", "url", "headers", "query", "body", "credential", "success", "not_applied", "select")
_OWN = {
    "http": ("The request", {"fields": _REQUEST}),
    "python": ("The function", {"fields": ("function",)}),
    "command": ("The command", {"fields": ("argv", "stdin", "output", "not_applied", "min_sandbox_level")}),
}
_RESULT = ("output_schema", "output_trust", "max_result_bytes", "returns_secrets", "volatile")
_REACH = ("egress_by_argument", "egress")


@admin.register(Tool)
class ToolAdmin(TenantModelAdmin):
    """Tools; each saved change is a new immutable version."""

    readonly_fields = ("history",)
    list_display = ("name", "title", "risk", "version", "state", "updated_at")
    list_select_related = ("current",)
    search_fields = ("name", "current__spec")
    ordering = ("name",)
    actions = ("enable", "disable")

    def get_form(self, request: HttpRequest, obj: Tool | None = None, change: bool = False, **kwargs: Any) -> Any:
        """The fields of the tool's kind; of the one in the address for a new tool."""
        kwargs |= {"form": form_of(_kind(request, obj)), "fields": ("enabled", "revision") if obj else ("revision",)}
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Tool | None = None) -> Any:
        """What it is, how it is called, what people are asked, and its bounds."""
        kind = _kind(request, obj)
        sets: list[Any] = [
            (
                "What it is",
                {
                    "fields": ("enabled", *_ABOUT) if obj else _ABOUT,
                    "description": "" if obj else _kinds(kind),
                },
            ),
            ("Arguments", {"fields": ("input_schema",)}),
            _OWN[kind],
            ("What comes back", {"fields": _RESULT}),
            ("When people are asked", {"fields": ("approval_summary", "resource_scope", "preconditions")}),
            ("What it costs and how it fails", {"fields": ("cost", "timeout_ms", "idempotency", "reconcile")}),
        ]
        if kind == "http":
            sets.append(("Where it may connect to", {"fields": _REACH}))
        return [*sets, ("Versions", {"fields": ("history", "revision")})] if obj else sets

    def view_on_site(self, obj: Tool) -> str:
        """The tool's own page, where it can be tried."""
        return reverse("tool", args=[obj.name])

    def save_model(self, request: HttpRequest, obj: Tool, form: Any, change: bool) -> None:
        actor, definition = self.actor(request), form.definition()
        if not change:
            version = add_tool(actor, definition)
            obj.pk, obj.name, obj.tenant_id, obj.current = (
                version.tool_id,
                version.tool.name,
                version.tenant_id,
                version,
            )
            obj._state.adding = False
            return
        change_tool(actor, obj.name, definition, revision=form.cleaned_data.get("revision"))
        switch_tool(actor, obj.name, enabled=form.cleaned_data["enabled"])

    @admin.display(description="Versions")
    def history(self, tool: Tool) -> SafeString:
        rows = list_versions(tool.tenant_id, tool.name)
        return history([Version(r.number, r.current, r.created_at, r.created_by, ordered(r.spec)) for r in rows])

    @admin.display(description="Title")
    def title(self, tool: Tool) -> str:
        return read_spec(tool.current.spec).title if tool.current else ""

    @admin.display(description="Risk")
    def risk(self, tool: Tool) -> str:
        return read_spec(tool.current.spec).risk if tool.current else ""

    @admin.display(description="Version")
    def version(self, tool: Tool) -> str:
        return f"v{tool.current.number}" if tool.current else ""

    @admin.display(description="State", ordering="enabled")
    def state(self, tool: Tool) -> str:
        return "quarantined" if tool.quarantined else "enabled" if tool.enabled else "disabled"

    @admin.action(description="Enable")
    def enable(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        for tool in queryset:
            switch_tool(self.actor(request), tool.name, enabled=True)

    @admin.action(description="Disable: calls waiting for approval are refused when they are claimed")
    def disable(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        for tool in queryset:
            switch_tool(self.actor(request), tool.name, enabled=False)


@admin.register(Credential)
class CredentialAdmin(TenantModelAdmin):
    """Bearer tokens of tools."""

    form = CredentialForm
    list_display = ("name", "destination", "created_by", "updated_at")
    actions = ()

    def save_model(self, request: HttpRequest, obj: Credential, form: Any, change: bool) -> None:
        actor = self.actor(request)
        bearer = SecretStr(form.cleaned_data["bearer"])
        row = keep_credential(actor, obj.name, obj.destination, bearer)
        obj.pk, obj.tenant_id = row.pk, row.tenant_id
        obj._state.adding = False


def _kinds(chosen: str) -> SafeString:
    """The kinds of tools, each a form of its own."""
    rows = ((kind, "page" if kind == chosen else "false", name) for kind, name in KINDS.items())
    links = format_html_join("", '<a class="button" href="?kind={}" aria-current="{}">{}</a>', rows)
    return format_html('<nav class="kinds" aria-label="Its kind">{}</nav>', links)


def _kind(request: HttpRequest, tool: Tool | None) -> str:
    if tool is not None and tool.current is not None:
        return read_spec(tool.current.spec).kind
    asked = request.GET.get("kind", "")
    return asked if asked in KINDS else "http"
