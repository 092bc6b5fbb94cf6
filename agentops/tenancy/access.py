"""From a key or a session to an Actor, and what a principal may still do at the moment of a claim."""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import KeyRejected, NotAMember, ScopeMissing
from agentops.tenancy.last_use import note_use
from agentops.tenancy.models import ApiKey, Membership, Tenant, User
from agentops.tenancy.raw_key import split
from agentops.tenancy.scopes import APPROVALS_DECIDE, allows, in_common, scopes_of

_NOBODY = hashlib.sha256(b"no such key").digest()


@dataclass(frozen=True, slots=True)
class Rights:
    """What a principal may do now; `reason` says why it may do nothing."""

    alive: bool
    scopes: frozenset[str]
    reason: str = ""

    def allows(self, scope: str) -> bool:
        """Whether this principal may still do what asks for `scope`."""
        return self.alive and allows(self.scopes, scope)


def authenticate_key(raw: str, *, door: str = "api") -> Actor:
    """The actor behind a raw key; one indexed lookup. Raises KeyRejected with the `reason` in its details."""
    prefix, secret = split(raw)
    key = _keys().filter(prefix=prefix).first()
    given = hashlib.sha256(secret.encode()).digest()
    is_right = hmac.compare_digest(given, bytes(key.secret_sha256) if key else _NOBODY)
    if key is None or not is_right:
        raise KeyRejected(reason="unknown")
    roles = _roles_behind(key)
    if fault := _fault(key, roles):
        raise KeyRejected(_WORDS[fault], reason=fault)
    note_use(key.id, key.last_used_at)
    return _actor_of(key, roles, door)


def agent_actor(key_id: UUID, scopes: Iterable[str], *, door: str) -> Actor:
    """The outside agent that holds a token of this key for these scopes. Raises KeyRejected as `authenticate_key`."""
    key = _keys().filter(id=key_id).exclude(client="").first()
    if key is None:
        raise KeyRejected(reason="unknown")
    roles = _roles_behind(key)
    if fault := _fault(key, roles):
        raise KeyRejected(_WORDS[fault], reason=fault)
    note_use(key.id, key.last_used_at)
    actor = _actor_of(key, roles, door)
    return replace(actor, scopes=in_common(scopes, actor.scopes))


def actor_for_session(user: User, tenant: Tenant, *, door: str = "web") -> Actor:
    """The actor that a signed-in member is. Raises NotAMember, also when the tenant is suspended."""
    member = Membership.objects.filter(user=user, tenant=tenant, tenant__status=Tenant.ACTIVE).first()
    if member is None or not user.is_active:
        raise NotAMember
    roles = frozenset(member.roles)
    return Actor(
        tenant_id=tenant.id,
        kind="person",
        user_id=user.id,
        service_account_id=None,
        key_id=None,
        roles=roles,
        scopes=scopes_of(roles),
        label=user.email,
        principal=f"user:{user.id}",
        door=door,
    )


def require_scope(actor: Actor, scope: str) -> None:
    """Raises ScopeMissing unless the actor has the scope."""
    if not actor.allows(scope):
        raise ScopeMissing(f"This needs the scope {scope}.", scope=scope)


def require_role(actor: Actor, *roles: str) -> None:
    """Raises ScopeMissing unless the actor is a person with one of the roles."""
    if not actor.roles & set(roles):
        raise ScopeMissing(f"This needs the role {' or '.join(roles)}.", roles=sorted(roles))


def rights_now(tenant_id: UUID, principal: str, key_id: UUID | None) -> Rights:
    """What the principal that started a run may do at this moment; one statement."""
    kind, _, holder = principal.partition(":")
    if kind == "user":
        return _member_rights(tenant_id, UUID(holder))
    key = _keys().filter(id=key_id or UUID(holder), tenant_id=tenant_id).first()
    if key is None:
        return Rights(alive=False, scopes=frozenset(), reason="key_unknown")
    roles = _roles_behind(key)
    if fault := _fault(key, roles):
        return Rights(alive=False, scopes=frozenset(), reason=fault)
    return Rights(alive=True, scopes=_key_scopes(key, roles))


def eligible_people(tenant_id: UUID, roles: frozenset[str]) -> frozenset[UUID]:
    """The members who have one of the roles now and can sign in."""
    members = Membership.objects.filter(
        tenant_id=tenant_id, roles__overlap=sorted(roles), user__is_active=True, tenant__status=Tenant.ACTIVE
    )
    return frozenset(members.values_list("user_id", flat=True))


_WORDS = {
    "expired": "The API key has expired.",
    "revoked": "The API key was revoked.",
    "service_account_disabled": "The service account of this API key is disabled.",
    "tenant_suspended": "The tenant of this API key is suspended.",
    "member_removed": "The person behind this API key is not a member any more.",
}


def _keys() -> QuerySet[ApiKey]:
    person = Coalesce(OuterRef("user"), OuterRef("service_account__owner"))
    member = Membership.objects.filter(tenant=OuterRef("tenant"), user=person, user__is_active=True)
    return ApiKey.objects.select_related("tenant", "user", "service_account").annotate(
        holder_roles=Subquery(member.values("roles")[:1])
    )


def _roles_behind(key: ApiKey) -> frozenset[str] | None:
    """The roles of the person whom the key speaks for, or who answers for it; None when not a member."""
    roles: list[str] | None = getattr(key, "holder_roles", None)
    return None if roles is None else frozenset(roles)


def _fault(key: ApiKey, roles: frozenset[str] | None) -> str:
    account = key.service_account
    faults = {
        "revoked": key.revoked_at is not None,
        "expired": key.expires_at is not None and key.expires_at <= timezone.now(),
        "tenant_suspended": key.tenant.status != Tenant.ACTIVE,
        "service_account_disabled": account is not None and account.disabled_at is not None,
        "member_removed": roles is None,
    }
    return next((name for name, is_so in faults.items() if is_so), "")


def _key_scopes(key: ApiKey, roles: frozenset[str] | None) -> frozenset[str]:
    """A service account's key has what it was given; a person's key never more than the person has now."""
    if key.user_id is None:
        return frozenset(key.scopes) - {APPROVALS_DECIDE}
    return in_common(key.scopes, scopes_of(roles or ()))


def _actor_of(key: ApiKey, roles: frozenset[str] | None, door: str) -> Actor:
    account = key.service_account
    return Actor(
        tenant_id=key.tenant_id,
        kind="oauth" if key.client else "key",
        user_id=None if key.client else key.user_id,
        service_account_id=key.service_account_id,
        key_id=key.id,
        roles=(roles or frozenset()) if account is None and not key.client else frozenset(),
        scopes=_key_scopes(key, roles),
        label=_label(key),
        principal=_principal(key),
        door=door,
        answerable=_answerable(key),
    )


def _label(key: ApiKey) -> str:
    if key.client:
        return f"{key.name} for {key.user}"[:254]
    return key.service_account.name if key.service_account else str(key.user)


def _principal(key: ApiKey) -> str:
    if key.client:
        return f"oauth:{key.id}"
    return f"service:{key.service_account_id}" if key.service_account_id else f"key:{key.id}"


def _answerable(key: ApiKey) -> frozenset[UUID]:
    owner = key.service_account.owner_id if key.service_account else key.user_id
    return frozenset(person for person in (key.created_by_id, owner) if person is not None)


def _member_rights(tenant_id: UUID, user_id: UUID) -> Rights:
    member = Membership.objects.filter(tenant_id=tenant_id, user_id=user_id).select_related("tenant", "user").first()
    if member is None or not member.user.is_active:
        return Rights(alive=False, scopes=frozenset(), reason="member_removed")
    if member.tenant.status != Tenant.ACTIVE:
        return Rights(alive=False, scopes=frozenset(), reason="tenant_suspended")
    return Rights(alive=True, scopes=scopes_of(member.roles))
