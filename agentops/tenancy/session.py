"""Which of their tenants a signed-in person is in: the session remembers it, the membership decides."""

from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from agentops.tenancy.access import actor_for_session
from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import NotAMember
from agentops.tenancy.models import Tenant, User

_KEY = "tenant_id"
_CACHE = "_agentops_actor"
_TENANTS = "_agentops_tenants"


def tenants_of(user: User) -> list[Tenant]:
    """The active tenants that this person is a member of, by name."""
    return list(Tenant.objects.filter(memberships__user=user, status=Tenant.ACTIVE).order_by("name", "id"))


def tenants_of_request(request: HttpRequest) -> list[Tenant]:
    """The same for the signed-in person; read once a request."""
    known: list[Tenant] | None = getattr(request, _TENANTS, None)
    if known is None:
        known = tenants_of(request.user) if isinstance(request.user, User) else []
        setattr(request, _TENANTS, known)
    return known


def tenant_of_session(session: SessionBase, user: User, tenants: list[Tenant] | None = None) -> Tenant:
    """The tenant last switched to, or else the first one. Raises NotAMember when there is none."""
    tenants = tenants_of(user) if tenants is None else tenants
    chosen = next((tenant for tenant in tenants if str(tenant.id) == session.get(_KEY)), None)
    if not tenants:
        raise NotAMember("You are not a member of any team.")
    return chosen or tenants[0]


def switch_tenant(session: SessionBase, user: User, tenant_id: UUID) -> Tenant:
    """Makes another of the person's tenants the current one. Raises NotAMember for anybody else's."""
    tenant = next((tenant for tenant in tenants_of(user) if tenant.id == tenant_id), None)
    if tenant is None:
        raise NotAMember
    session[_KEY] = str(tenant.id)
    return tenant


def actor_of_request(request: HttpRequest, *, door: str = "web") -> Actor:
    """The signed-in member in their current tenant; read once a request. Raises NotAMember."""
    known: Actor | None = getattr(request, _CACHE, None)
    if known is None:
        if not isinstance(request.user, User):
            raise NotAMember("Nobody is signed in.")
        tenant = tenant_of_session(request.session, request.user, tenants_of_request(request))
        known = actor_for_session(request.user, tenant, door=door)
        setattr(request, _CACHE, known)
    return known
