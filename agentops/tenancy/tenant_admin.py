"""What every admin page of a tenant's rows shares: whose rows, who may, and refusals shown on the form."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.text import capfirst

from agentops.domain_error import DomainError
from agentops.tenancy.actor import Actor
from agentops.tenancy.admin_site import STAFF
from agentops.tenancy.session import actor_of_request

_FAULT = "_agentops_admin_fault"


class TenantModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows of the staff's own tenant. A DomainError out of `save_model` is shown on the form that caused it.

    Override `save_model` to call an operation that takes part in the open transaction, `roles` to narrow who may,
    and `can_add`, `can_change`, `can_delete` for tables that only grow or are only read.
    """

    roles: ClassVar[frozenset[str]] = STAFF
    can_add: ClassVar[bool] = True
    can_change: ClassVar[bool] = True
    can_delete: ClassVar[bool] = False
    exclude: ClassVar[list[str] | tuple[str, ...] | None] = ("tenant",)

    def actor(self, request: HttpRequest) -> Actor:
        """The member at work."""
        return actor_of_request(request, door="admin")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(self.actor(request).roles & self.roles)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.can_add and self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_change and self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_delete and self.has_module_permission(request)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        """The tenant's rows; row-level security says it again."""
        return super().get_queryset(request).filter(tenant_id=self.actor(request).tenant_id)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Choices are rows of the same tenant, too."""
        target = db_field.remote_field.model
        if any(field.name == "tenant" for field in target._meta.fields):
            kwargs.setdefault("queryset", target.objects.filter(tenant_id=self.actor(request).tenant_id))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The usual form; after a refusal it carries the reason."""
        form = super().get_form(request, obj, change=change, **kwargs)
        fault: DomainError | None = getattr(request, _FAULT, None)
        return form if fault is None else _refused(form, fault)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """A plain field: other rows are changed on pages of their own, not in windows that open from a form."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        return field

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """A list is named after what is in it."""
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Saves a row of the tenant."""
        obj.tenant_id = self.actor(request).tenant_id
        super().save_model(request, obj, form, change)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Add and change; what an operation refuses is undone and shown with the input as it was."""
        try:
            with transaction.atomic():
                return _rendered(super().changeform_view(request, *args, **kwargs))
        except DomainError as fault:
            setattr(request, _FAULT, fault)
            return super().changeform_view(request, *args, **kwargs)


def _rendered(response: HttpResponseBase) -> HttpResponseBase:
    return response.render() if isinstance(response, HttpResponse) and hasattr(response, "render") else response


def _refused(form: type[Any], fault: DomainError) -> type[Any]:
    class RefusedForm(form):  # type: ignore[misc]
        def clean(self) -> Any:
            cleaned = super().clean()
            for pointer, text in _faults(fault):
                self.add_error(*_placed(self, pointer, text))
            return cleaned

    return RefusedForm


def _faults(fault: DomainError) -> list[tuple[str, str]]:
    errors = fault.details.get("errors") or []
    told = [(error["pointer"], error["detail"]) for error in errors]
    return told or [(str(fault.details.get("pointer", "")), fault.message)]


def _placed(form: Any, pointer: str, text: str) -> tuple[str | None, str]:
    """The field that a fault is about, by the form's `places` or by its own names, and what to say there."""
    places: dict[str, str] = {f"/{name}": name for name in form.fields} | getattr(form, "places", {})
    for place in sorted(places, key=len, reverse=True):
        if places[place] in form.fields and (pointer == place or pointer.startswith(f"{place}/")):
            rest = pointer.removeprefix(place)
            return places[place], f"{rest}: {text}" if rest else text
    return None, f"{pointer}: {text}" if pointer else text
