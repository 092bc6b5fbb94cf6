"""The demo's cast: alice asks, bob decides, carol owns, mallory belongs to another team; their sign-ins and keys."""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from agentops.domain_error import DomainError
from agentops.tenancy.access import actor_for_session, authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.keys import create_key
from agentops.tenancy.models import ApiKey, Membership, ServiceAccount, Tenant, User
from agentops.tenancy.scopes import APPROVALS_DECIDE, APPROVER, OPERATOR, OWNER, PRODUCT_SCOPES

KEY_NAME = "demo.json"
TOOL_SCOPES = ("builtin:read", "ledger:read", "ledger:write")


@dataclass(frozen=True)
class Cast:
    """Who there is, and what `demo.json` says of them."""

    tenant: Tenant
    alice: Actor
    bob: Actor
    carol: Actor
    file: Mapping[str, Any]


def gather(known: Mapping[str, Any], url: str) -> Cast:
    """Everybody, made or found; passwords and keys in `known` stay as long as they still work."""
    acme, other = _tenant("acme-finance", "Acme Finance"), _tenant("mallory-trading", "Mallory Trading")
    alice, operator = _person(acme, "alice", [OPERATOR, APPROVER], _part(known, "operator"))
    bob, approver = _person(acme, "bob", [APPROVER], _part(known, "approver"))
    carol, admin = _person(acme, "carol", [OWNER], _part(known, "admin"))
    _, theirs = _person(other, "mallory", [OWNER], {"api_key": known.get("mallory_api_key")})
    every = PRODUCT_SCOPES - {APPROVALS_DECIDE} | set(TOOL_SCOPES)
    file = {
        "url": url,
        "api_key": service_key(carol, "Demo agents", every, str(known.get("api_key", ""))),
        "operator": operator,
        "approver": approver,
        "admin": admin,
        "mallory_api_key": theirs["api_key"],
    }
    return Cast(acme, alice, bob, carol, file)


def service_key(owner: Actor, name: str, scopes: Collection[str], known: str = "", *, key_name: str = KEY_NAME) -> str:
    """A working key of the service account `name`: `known`, or a new one in its place."""
    account, _ = ServiceAccount.objects.get_or_create(
        tenant_id=owner.tenant_id, name=name, defaults={"owner": User.objects.get(email=owner.label)}
    )
    if _fits(known, owner, scopes, service_account_id=account.id):
        return known
    _retire(owner, service_account_id=account.id, name=key_name)
    return create_key(owner, name=key_name, scopes=scopes, service_account_id=account.id).raw


def _tenant(slug: str, name: str) -> Tenant:
    return Tenant.objects.get_or_create(slug=slug, defaults={"name": name})[0]


def _person(tenant: Tenant, name: str, roles: list[str], known: Mapping[str, Any]) -> tuple[Actor, dict[str, str]]:
    email = f"{name}@{tenant.slug}.example"
    user, _ = User.objects.get_or_create(email=email, defaults={"name": name.title()})
    Membership.objects.get_or_create(tenant=tenant, user=user, defaults={"roles": sorted(roles)})
    actor = actor_for_session(user, tenant)
    password, key = str(known.get("password", "")), str(known.get("api_key", ""))
    if not password or not user.check_password(password):
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        user.save(update_fields=["password"])
    scopes = [scope for scope in sorted(PRODUCT_SCOPES) if actor.allows(scope)]
    if not _fits(key, actor, scopes, user_id=user.id):
        _retire(actor, user_id=user.id, name=KEY_NAME)
        key = create_key(actor, name=KEY_NAME, scopes=scopes).raw
    return actor, {"email": email, "password": password, "api_key": key}


def _fits(raw: str, owner: Actor, scopes: Collection[str], **holder: Any) -> bool:
    try:
        actor = authenticate_key(raw)
    except DomainError:
        return False
    is_theirs = all(getattr(actor, name) == value for name, value in holder.items())
    return is_theirs and actor.tenant_id == owner.tenant_id and all(actor.allows(scope) for scope in scopes)


def _retire(owner: Actor, **holder: Any) -> None:
    """A key that nobody can read any more must not stay open."""
    keys = ApiKey.objects.filter(tenant_id=owner.tenant_id, revoked_at__isnull=True, **holder)
    keys.update(revoked_at=Now())


def _part(known: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = known.get(name)
    return part if isinstance(part, dict) else {}
