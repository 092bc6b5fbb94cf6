"""Admin pages of people, service accounts and keys, for owners."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from agentops.tenancy.keys import (
    change_service_account,
    create_key,
    create_service_account,
    disable_service_account,
    revoke_key,
)
from agentops.tenancy.members import add_member, remove_member, set_roles
from agentops.tenancy.models import ApiKey, Membership, ServiceAccount, User
from agentops.tenancy.scopes import OWNER, PRODUCT_SCOPES, ROLES
from agentops.tenancy.tenant_admin import TenantModelAdmin

_OWNERS = frozenset({OWNER})


class _Commas(forms.Field):
    """A list of words, written with commas or spaces between them."""

    def to_python(self, value: Any) -> list[str]:
        return value if isinstance(value, list) else str(value or "").replace(",", " ").split()

    def prepare_value(self, value: Any) -> Any:
        return " ".join(value) if isinstance(value, list) else value


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg]
    """A member by e-mail address, with roles to tick."""

    email = forms.EmailField()
    roles = forms.MultipleChoiceField(
        choices=[(role, role) for role in ROLES], widget=forms.CheckboxSelectMultiple, required=False
    )

    class Meta:
        model = Membership
        fields = ("roles",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.fields["email"].initial = self.instance.user.email
            self.fields["email"].disabled = True


class ApiKeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A key for oneself, or for a service account."""

    scopes = _Commas(help_text=f"Any of {' '.join(sorted(PRODUCT_SCOPES))}, and scopes that tools ask for.")

    class Meta:
        model = ApiKey
        fields = ("name", "service_account", "scopes", "expires_at")
        help_texts: ClassVar = {"service_account": "Empty: a key of your own.", "expires_at": "UTC. Empty: never."}


@admin.register(Membership)
class MembershipAdmin(TenantModelAdmin):
    """Members and their roles; deleting one ends the membership."""

    form = MembershipForm
    roles = _OWNERS
    can_delete = True
    fields = ("email", "roles")
    list_display = ("user", "roles", "created_at")
    actions = ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        actor, roles = self.actor(request), form.cleaned_data["roles"]
        if change:
            set_roles(actor, user_id=obj.user_id, roles=roles)
        else:
            member = add_member(actor, email=form.cleaned_data["email"], roles=roles)
            obj.pk, obj.user, obj.tenant = member.pk, member.user, member.tenant

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        remove_member(self.actor(request), user_id=obj.user_id)


@admin.register(ServiceAccount)
class ServiceAccountAdmin(TenantModelAdmin):
    """Programs that act for the tenant."""

    roles = _OWNERS
    fields = ("name", "owner")
    list_display = ("name", "owner", "created_at", "disabled_at")
    actions = ("disable",)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "owner":
            kwargs["queryset"] = User.objects.filter(memberships__tenant_id=self.actor(request).tenant_id)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: ServiceAccount, form: Any, change: bool) -> None:
        if change:
            change_service_account(self.actor(request), service_account_id=obj.id, name=obj.name, owner_id=obj.owner_id)
        else:
            made = create_service_account(self.actor(request), name=obj.name, owner_id=obj.owner_id)
            obj.pk, obj.tenant = made.pk, made.tenant

    @admin.action(description="Disable: every key of the account stops working")
    def disable(self, request: HttpRequest, queryset: QuerySet[ServiceAccount]) -> None:
        for account in queryset:
            disable_service_account(self.actor(request), service_account_id=account.id)


@admin.register(ApiKey)
class ApiKeyAdmin(TenantModelAdmin):
    """Keys of the tenant; the secret is shown once, when the key is made."""

    form = ApiKeyForm
    roles = _OWNERS
    can_change = False
    list_display = ("name", "prefix", "holder", "scopes", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user", "service_account")
    actions = ("revoke",)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        made = create_key(
            self.actor(request),
            name=obj.name,
            scopes=obj.scopes,
            service_account_id=obj.service_account_id,
            expires_at=obj.expires_at,
        )
        obj.pk, obj.prefix = made.key.pk, made.key.prefix
        messages.warning(request, f"Copy the key now, it is shown only once: {made.raw}")

    @admin.display(description="Of")
    def holder(self, key: ApiKey) -> str:
        return str(key.service_account or key.user)

    @admin.action(description="Revoke: the key stops working at once")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            revoke_key(self.actor(request), key_id=key.id)
