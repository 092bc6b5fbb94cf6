"""Admin pages of tools and credentials, for tool admins and owners."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from pydantic import SecretStr

from agentops.tenancy.tenant_admin import TenantModelAdmin
from tools.admin_forms import SKELETONS, CredentialForm, ToolForm
from tools.changes import add_tool, change_tool, switch_tool
from tools.credentials import keep_credential
from tools.models import Credential, Tool
from tools.queries import list_versions
from tools.registry import read_spec


@admin.register(Tool)
class ToolAdmin(TenantModelAdmin):
    """Tools; each saved change is a new immutable version."""

    form = ToolForm
    fields = ("start_from", "definition", "enabled", "revision", "history")
    readonly_fields = ("start_from", "history")
    list_display = ("name", "title", "risk", "version", "enabled", "quarantined", "updated_at")
    list_select_related = ("current",)
    search_fields = ("name", "current__spec")
    ordering = ("name",)
    actions = ("enable", "disable")

    def get_fields(self, request: HttpRequest, obj: Tool | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("start_from", "definition")
        return ("definition", "enabled", "revision", "history")

    def save_model(self, request: HttpRequest, obj: Tool, form: Any, change: bool) -> None:
        actor, spec = self.actor(request), form.cleaned_data["definition"]
        if not change:
            version = add_tool(actor, spec)
            obj.pk, obj.name, obj.tenant_id, obj.current = version.tool_id, spec.name, version.tenant_id, version
            obj._state.adding = False
            return
        change_tool(actor, obj.name, spec, revision=form.cleaned_data.get("revision"))
        switch_tool(actor, obj.name, enabled=form.cleaned_data["enabled"])

    @admin.display(description="Start from")
    def start_from(self, _: Tool | None) -> SafeString:
        return format_html_join(" · ", '<a href="?kind={0}">{0}</a>', ((kind,) for kind in SKELETONS))

    @admin.display(description="Versions")
    def history(self, tool: Tool) -> SafeString:
        rows = (
            (row.number, "current, " if row.current else "", row.created_at, row.created_by, row.content_hash[:12])
            for row in list_versions(tool.tenant_id, tool.name)
        )
        return format_html("<ol reversed>{}</ol>", format_html_join("", "<li>v{}: {}{} by {}, {}…</li>", rows))

    @admin.display(description="Title")
    def title(self, tool: Tool) -> str:
        return read_spec(tool.current.spec).title if tool.current else ""

    @admin.display(description="Risk")
    def risk(self, tool: Tool) -> str:
        return read_spec(tool.current.spec).risk if tool.current else ""

    @admin.display(description="Version")
    def version(self, tool: Tool) -> str:
        return f"v{tool.current.number}" if tool.current else ""

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
