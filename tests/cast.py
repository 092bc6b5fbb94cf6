"""The cast: alice asks and may decide, bob may decide, carol owns; mallory belongs to another tenant."""

import secrets
from dataclasses import dataclass
from functools import cache

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from agentops.tenancy.access import actor_for_session, authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.keys import create_key, create_service_account
from agentops.tenancy.models import ApiKey, Membership, ServiceAccount, Tenant, User
from agentops.tenancy.scopes import APPROVALS_DECIDE, APPROVER, OPERATOR, OWNER, PRODUCT_SCOPES

PASSWORD = "correct horse battery staple"
TOOL_SCOPES = ("ledger:read", "ledger:write")
PERSON_SCOPES = ("runs:read", "runs:write", "approvals:read", "approvals:decide", "tools:read", "audit:read")


@dataclass(frozen=True)
class Person:
    """A member, as a browser and as their own key would act."""

    user: User
    tenant: Tenant
    key: ApiKey
    raw_key: str

    @property
    def actor(self) -> Actor:
        """As in the browser."""
        return actor_for_session(self.user, self.tenant)

    @property
    def key_actor(self) -> Actor:
        """As with the person's own key."""
        return authenticate_key(self.raw_key)

    def signed_in(self) -> Client:
        """A browser in which they are signed in."""
        client = Client()
        client.force_login(self.user, "django.contrib.auth.backends.ModelBackend")
        return client


@dataclass(frozen=True)
class Service:
    """A service account with a key that may do everything but decide."""

    account: ServiceAccount
    key: ApiKey
    raw_key: str

    @property
    def actor(self) -> Actor:
        """As its key acts."""
        return authenticate_key(self.raw_key)


@dataclass(frozen=True)
class Cast:
    """Everybody in one new tenant, and mallory in another one."""

    tenant: Tenant
    alice: Person
    bob: Person
    carol: Person
    service: Service
    other_tenant: Tenant
    mallory: Person
    other_service: Service


def new_cast() -> Cast:
    """Two new tenants and their people, committed for real; no other test sees them."""
    mark = secrets.token_hex(4)
    tenant, other = new_tenant(f"acme-{mark}"), new_tenant(f"evil-{mark}")
    carol, mallory = new_person(tenant, "carol", [OWNER]), new_person(other, "mallory", [OWNER])
    return Cast(
        tenant=tenant,
        alice=new_person(tenant, "alice", [OPERATOR, APPROVER]),
        bob=new_person(tenant, "bob", [APPROVER]),
        carol=carol,
        service=new_service(carol, "agents"),
        other_tenant=other,
        mallory=mallory,
        other_service=new_service(mallory, "agents"),
    )


def new_tenant(slug: str) -> Tenant:
    """A tenant of its own."""
    return Tenant.objects.create(slug=slug, name=slug)


def new_person(tenant: Tenant, name: str, roles: list[str]) -> Person:
    """A member with these roles and, as far as the roles go, a person's key."""
    email = f"{name}@{tenant.slug}.example"
    user = User.objects.create(email=email, password=_hashed(), name=name.title())
    Membership.objects.create(tenant=tenant, user=user, roles=roles)
    actor = actor_for_session(user, tenant)
    made = create_key(actor, name=f"{name}'s key", scopes=[s for s in PERSON_SCOPES if actor.allows(s)])
    return Person(user=user, tenant=tenant, key=made.key, raw_key=made.raw)


def new_service(owner: Person, name: str, tool_scopes: tuple[str, ...] = TOOL_SCOPES) -> Service:
    """A service account that `owner` answers for, with every scope but the one that decides."""
    account = create_service_account(owner.actor, name=name)
    scopes = [*(PRODUCT_SCOPES - {APPROVALS_DECIDE}), *tool_scopes]
    made = create_key(owner.actor, name=f"{name} key", scopes=scopes, service_account_id=account.id)
    return Service(account=account, key=made.key, raw_key=made.raw)


@pytest.fixture
def cast() -> Cast:
    """Two tenants of this test's own."""
    return new_cast()


@cache
def _hashed() -> str:
    return make_password(PASSWORD)
