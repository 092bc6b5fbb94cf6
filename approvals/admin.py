"""Admin pages of the policy, for tool admins and owners. Requests and decisions are not here: they are decided on
their own pages alone."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.safestring import SafeString

from agentops.tenancy.access import eligible_people
from agentops.tenancy.admin_versions import Version, history
from agentops.tenancy.tenant_admin import TenantModelAdmin
from approvals.admin_forms import PARTS, SPARE, PolicyForm, form_for
from approvals.domain.decision import eligible_roles
from approvals.domain.policy import Preset
from approvals.models import PolicyVersion
from approvals.operations import in_force, put_policy
from tools.domain.canonical import parse
from tools.domain.writing import written

_UNKNOWN = ("When nobody knows what a destructive call did", {"fields": ("reconcile_quorum",)})


@admin.register(PolicyVersion)
class PolicyVersionAdmin(TenantModelAdmin):
    """Policies: the newest version is in force; adding one starts from it, and none is ever changed."""

    form = PolicyForm
    can_change = False
    list_display = ("__str__", "preset", "count", "created_at", "created_by")
    list_select_related = ("created_by",)
    ordering = ("-number",)
    actions = ()
    readonly_fields = ("versions",)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The fields of the rules that are in force, and spare ones."""
        if obj is not None:
            return super().get_form(request, obj, change=change, **kwargs)
        current = in_force(self.actor(request))
        rules: Any = parse(current.rules) if current else []
        sent = sum(1 for name in request.POST if name.startswith("name_"))
        kwargs |= {"form": form_for(rules, sent or len(rules) + SPARE), "fields": ("preset",)}
        return super().get_form(request, obj, change=change, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> Any:
        """What is in force."""
        current = in_force(self.actor(request))
        return {
            "preset": current.preset if current else Preset.CAREFUL.value,
            "reconcile_quorum": current.reconcile_quorum if current else 1,
            "version": current.number if current else 0,
        }

    def get_fieldsets(self, request: HttpRequest, obj: PolicyVersion | None = None) -> Any:
        """A version as it is; or the form, one block a rule."""
        if obj is not None:
            return [
                (None, {"fields": ("number", "created_at", "created_by")}),
                ("What it says", {"fields": ("versions",)}),
            ]
        count = self.get_form(request).count
        blocks = [(f"Rule {n + 1}", {"fields": _rows(n)}) for n in range(count)]
        first = ("Where the team starts from", {"fields": ("preset", "version")})
        return [first, *blocks, _UNKNOWN]

    def save_model(self, request: HttpRequest, obj: PolicyVersion, form: Any, change: bool) -> None:
        actor, given = self.actor(request), form.cleaned_data
        made = put_policy(
            actor,
            preset=given["preset"],
            rules=form.rules(),
            reconcile_quorum=given["reconcile_quorum"],
            version=given.get("version"),
        )
        obj.pk, obj.number, obj.tenant_id = made.pk, made.number, made.tenant_id
        obj._state.adding = False
        for rule in form.rules():
            _warn_of_few(request, actor.tenant_id, rule)

    @admin.display(description="Rules")
    def count(self, policy: PolicyVersion) -> int:
        rules: Any = parse(policy.rules)
        return len(rules)

    @admin.display(description="Versions")
    def versions(self, policy: PolicyVersion) -> SafeString:
        rows = PolicyVersion.objects.filter(tenant_id=policy.tenant_id, number__lte=policy.number)
        newest = PolicyVersion.objects.filter(tenant_id=policy.tenant_id).order_by("-number").first()
        shown = list(rows.select_related("created_by").order_by("-number")[:50])
        return history([_shown(row, is_current=row == newest) for row in shown])


def _rows(number: int) -> tuple[Any, ...]:
    """The fields of one rule; what is asked of people stands side by side."""
    name, when, *asked, reason = (f"{part}_{number}" for part in PARTS)
    return name, when, tuple(asked[:2]), tuple(asked[2:]), reason


def _warn_of_few(request: HttpRequest, tenant_id: Any, rule: dict[str, Any]) -> None:
    """A rule may ask for more people than there are; its requests would wait until they expire."""
    people = len(eligible_people(tenant_id, eligible_roles(rule.get("group"))))
    if rule["effect"] == "require_approval" and people < (rule.get("quorum") or 1):
        messages.warning(
            request,
            f"Rule “{rule['name']}” asks for {rule.get('quorum') or 1}, and only {people} could decide: its requests "
            "cannot be approved until more members have the role.",
        )


def _shown(row: PolicyVersion, *, is_current: bool) -> Version:
    by = row.created_by.email if row.created_by else ""
    said = {"preset": row.preset, "reconcile_quorum": row.reconcile_quorum, "rules": parse(row.rules)}
    text = written(said)
    return Version(row.number, is_current, row.created_at, by, text)
