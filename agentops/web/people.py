"""Settings: who is in the team, with which roles, and which programs act for it."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from agentops.tenancy.models import Membership, ServiceAccount
from agentops.web.member import MemberRequest, member, show


@require_safe
@member
def settings_page(request: MemberRequest) -> HttpResponse:
    """People and service accounts."""
    tenant_id = request.actor.tenant_id
    members = Membership.objects.filter(tenant_id=tenant_id).select_related("user").order_by("user__email")
    accounts = ServiceAccount.objects.filter(tenant_id=tenant_id).select_related("owner").order_by("name")
    context = {"members": list(members), "accounts": list(accounts), "me": request.actor.user_id}
    return show(request, "tenancy/settings.html", context)
