"""Service accounts and API keys: made, shown once, revoked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from agentops.chain import stamp
from agentops.tenancy.access import require_role
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.errors import KeyNotFound, NotAMember, PeopleOnlyScope, ScopeNotGrantable, ServiceAccountNotFound
from agentops.tenancy.models import ApiKey, Membership, ServiceAccount
from agentops.tenancy.raw_key import new_raw_key
from agentops.tenancy.scopes import ANY_TOOL, APPROVALS_DECIDE, OWNER, PRODUCT_SCOPES
from agentops.tenancy.transaction import identity_act


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; `raw` is shown once and kept nowhere."""

    key: ApiKey
    raw: str = field(repr=False)


@identity_act()
def create_key(
    actor: Actor,
    *,
    name: str,
    scopes: Iterable[str],
    service_account_id: UUID | None = None,
    expires_at: datetime | None = None,
) -> NewKey:
    """A key for the actor, or for a service account of their tenant, with no more than the actor has."""
    if actor.kind != "person" or actor.user_id is None:
        raise ScopeNotGrantable("Keys are made by people who signed in, never by keys.")
    asked = frozenset(scopes)
    require_grantable(actor, asked, for_person=service_account_id is None)
    if service_account_id is not None:
        _require_own_account(actor, service_account_id)
    raw = new_raw_key()
    key = ApiKey.objects.create(
        tenant_id=actor.tenant_id,
        name=name,
        prefix=raw.prefix,
        secret_sha256=raw.secret_sha256,
        scopes=sorted(asked),
        user_id=actor.user_id if service_account_id is None else None,
        service_account_id=service_account_id,
        created_by_id=actor.user_id,
        expires_at=expires_at,
    )
    _record_key(actor, key)
    return NewKey(key=key, raw=raw.text)


@identity_act()
def revoke_key(actor: Actor, *, key_id: UUID) -> None:
    """Ends a key at once: one's own, or as an owner any of the tenant. A key revoked before stays as it is."""
    keys = ApiKey.objects.filter(id=key_id, tenant_id=actor.tenant_id)
    if OWNER not in actor.roles:
        keys = keys.filter(Q(user_id=actor.user_id) | Q(created_by_id=actor.user_id))
    if not keys.exists():
        raise KeyNotFound
    if keys.filter(revoked_at__isnull=True).update(revoked_at=Now()):
        record_change(actor.tenant_id, "key.revoked", actor.label, key=str(key_id))


@identity_act()
def create_service_account(actor: Actor, *, name: str, owner_id: UUID | None = None) -> ServiceAccount:
    """A program's account in the actor's tenant; the owner, by default the actor, answers for it."""
    require_role(actor, OWNER)
    owner = owner_id or actor.user_id
    if owner is None or not Membership.objects.filter(tenant_id=actor.tenant_id, user_id=owner).exists():
        raise NotAMember
    account = ServiceAccount.objects.create(tenant_id=actor.tenant_id, name=name, owner_id=owner)
    _record_account(actor, "account.created", account)
    return account


@identity_act()
def change_service_account(actor: Actor, *, service_account_id: UUID, name: str, owner_id: UUID) -> ServiceAccount:
    """Another name, or another owner who answers for it."""
    require_role(actor, OWNER)
    account = (
        ServiceAccount.objects.select_for_update().filter(id=service_account_id, tenant_id=actor.tenant_id).first()
    )
    if account is None:
        raise ServiceAccountNotFound
    if not Membership.objects.filter(tenant_id=actor.tenant_id, user_id=owner_id).exists():
        raise NotAMember
    account.name, account.owner_id = name, owner_id
    account.save(update_fields=["name", "owner"])
    _record_account(actor, "account.changed", account)
    return account


@identity_act()
def disable_service_account(actor: Actor, *, service_account_id: UUID) -> None:
    """Stops all keys of a service account at once."""
    require_role(actor, OWNER)
    accounts = ServiceAccount.objects.filter(id=service_account_id, tenant_id=actor.tenant_id)
    if not accounts.exists():
        raise ServiceAccountNotFound
    if accounts.filter(disabled_at__isnull=True).update(disabled_at=Now()):
        record_change(actor.tenant_id, "account.disabled", actor.label, account=str(service_account_id))


def _record_key(actor: Actor, key: ApiKey) -> None:
    holder = f"service:{key.service_account_id}" if key.service_account_id else f"user:{key.user_id}"
    until = stamp(key.expires_at) if key.expires_at else None
    record_change(
        actor.tenant_id, "key.created", actor.label, key=str(key.id), name=key.name, prefix=key.prefix, holder=holder,
        scopes=list(key.scopes), expires_at=until,
    )  # fmt: skip


def _record_account(actor: Actor, kind: str, account: ServiceAccount) -> None:
    record_change(
        actor.tenant_id, kind, actor.label, account=str(account.id), name=account.name, owner=str(account.owner_id)
    )


def require_grantable(actor: Actor, asked: frozenset[str], *, for_person: bool) -> None:
    """Raises PeopleOnlyScope or ScopeNotGrantable when the actor may not give these scopes away."""
    tool_scopes = asked - PRODUCT_SCOPES
    if APPROVALS_DECIDE in asked and (not for_person or tool_scopes):
        raise PeopleOnlyScope
    missing = sorted(scope for scope in asked if scope == ANY_TOOL or not actor.allows(scope))
    if missing:
        raise ScopeNotGrantable(f"You cannot grant {', '.join(missing)}.", scopes=missing)


def _require_own_account(actor: Actor, service_account_id: UUID) -> None:
    require_role(actor, OWNER)
    if not ServiceAccount.objects.filter(
        id=service_account_id, tenant_id=actor.tenant_id, disabled_at__isnull=True
    ).exists():
        raise ServiceAccountNotFound
