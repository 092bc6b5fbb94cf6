"""The admin site of one tenant at a time: each request is one transaction that sees the staff's own tenant.

Staff are members with the role tool_admin or owner. The page is rendered inside the transaction, because its lists
are read while it is rendered. What `save_model` calls therefore takes part in this transaction and opens none.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from agentops.tenancy.errors import NotAMember
from agentops.tenancy.scopes import OWNER, TOOL_ADMIN
from agentops.tenancy.session import actor_of_request
from agentops.tenancy.transaction import tenant_transaction

STAFF = frozenset({TOOL_ADMIN, OWNER})


class TenantAdminSite(AdminSite):
    """Django's admin for the current tenant of the signed-in member."""

    site_header = site_title = "AgentOps"
    index_title = "Administration"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff of the current tenant only."""
        try:
            return bool(actor_of_request(request, door="admin").roles & STAFF)
        except NotAMember:
            return False

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:
        """Every page of the site, in the tenant's transaction."""
        return super().admin_view(_in_tenant(view), cacheable)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Staff sign in where everybody does."""
        if request.user.is_authenticated:
            raise PermissionDenied
        onward = request.GET.get("next") or reverse("admin:index")
        return HttpResponseRedirect(f"{reverse('account_login')}?{urlencode({'next': onward})}")


def _in_tenant(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with tenant_transaction(actor_of_request(request, door="admin").tenant_id):
            response = view(request, *args, **kwargs)
            if isinstance(response, TemplateResponse) and not response.is_rendered:
                response.render()
        return response

    return inner
