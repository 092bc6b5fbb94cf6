"""Members of a tenant: added, removed and given roles by an owner."""

from collections.abc import Iterable
from uuid import UUID

from agentops.after_commit import tell_later
from agentops.tenancy.access import require_role
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.errors import LastOwner, NotAMember, UnknownRole
from agentops.tenancy.models import Membership, Tenant, User
from agentops.tenancy.scopes import OWNER, ROLES
from agentops.tenancy.transaction import identity_act


@identity_act()
def add_member(actor: Actor, *, email: str, roles: Iterable[str]) -> Membership:
    """Lets a person into the actor's tenant; a person new to the product gets no password yet."""
    require_role(actor, OWNER)
    known = _known(roles)
    user = User.objects.filter(email=email.lower()).first() or User.objects.create_user(email)
    member, _ = Membership.objects.update_or_create(
        tenant_id=actor.tenant_id, user=user, defaults={"roles": sorted(known)}
    )
    _record(actor, "member.added", member)
    return member


@identity_act()
def set_roles(actor: Actor, *, user_id: UUID, roles: Iterable[str]) -> Membership:
    """Gives a member exactly these roles; the last owner stays one."""
    require_role(actor, OWNER)
    known = _known(roles)
    member = _lock_member(actor.tenant_id, user_id)
    if OWNER not in known:
        _require_another_owner(member)
    member.roles = sorted(known)
    member.save(update_fields=["roles"])
    _record(actor, "member.changed", member)
    return member


@identity_act()
def remove_member(actor: Actor, *, user_id: UUID) -> None:
    """Ends a membership: the person's keys, and the service accounts they own, stop working with it."""
    require_role(actor, OWNER)
    member = _lock_member(actor.tenant_id, user_id)
    _require_another_owner(member)
    member.delete()
    _record(actor, "member.removed", member)


def _record(actor: Actor, kind: str, member: Membership) -> None:
    tell_later(actor.tenant_id, "member", member.user_id)
    roles = [] if kind == "member.removed" else list(member.roles)
    record_change(actor.tenant_id, kind, actor.label, email=member.user.email, user=str(member.user_id), roles=roles)


def _known(roles: Iterable[str]) -> set[str]:
    asked = set(roles)
    if unknown := asked - set(ROLES):
        raise UnknownRole(f"There is no role {', '.join(sorted(unknown))}.", roles=sorted(unknown))
    return asked


def _lock_member(tenant_id: UUID, user_id: UUID) -> Membership:
    # Two owners who remove each other at once must not leave none: the tenant's row orders them.
    Tenant.objects.select_for_update().get(id=tenant_id)
    member = Membership.objects.select_for_update().filter(tenant_id=tenant_id, user_id=user_id).first()
    if member is None:
        raise NotAMember
    return member


def _require_another_owner(member: Membership) -> None:
    others = Membership.objects.filter(tenant_id=member.tenant_id, roles__contains=[OWNER]).exclude(id=member.id)
    if OWNER in member.roles and not others.exists():
        raise LastOwner
