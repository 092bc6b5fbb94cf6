"""Members, roles and the people behind sessions."""

import threading
from collections.abc import Iterable
from uuid import uuid4

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import IntegrityError, connection

from agentops.domain_error import DomainError
from agentops.tenancy.access import actor_for_session, eligible_people
from agentops.tenancy.errors import LastOwner, NotAMember, ScopeMissing, UnknownRole
from agentops.tenancy.members import add_member, remove_member, set_roles
from agentops.tenancy.models import Membership, Tenant, User
from agentops.tenancy.scopes import OWNER, ROLES, SCOPES_OF_ROLE
from agentops.tenancy.session import switch_tenant, tenant_of_session
from tests.cast import Cast, new_person


@pytest.mark.parametrize(
    ("role", "more"),
    [
        ("viewer", set()),
        ("operator", {"runs:write", "runs:on_behalf", "*"}),
        ("approver", {"approvals:decide"}),
        ("tool_admin", {"tools:write"}),
        ("owner", {"runs:write", "runs:on_behalf", "*", "approvals:decide", "tools:write"}),
    ],
)
def test_each_role_adds_its_own_scopes_to_reading(role: str, more: set[str]) -> None:
    assert SCOPES_OF_ROLE[role] == {"runs:read", "approvals:read", "tools:read", "audit:read"} | more
    assert role in ROLES


def test_a_member_in_the_browser_has_the_scopes_of_all_their_roles(cast: Cast) -> None:
    alice = cast.alice.actor
    assert alice.allows("runs:write")
    assert alice.allows("approvals:decide")
    assert alice.allows("any:tool")
    assert not alice.allows("tools:write")
    assert alice.principal == f"user:{cast.alice.user.id}"


def test_a_stranger_has_no_actor_here(cast: Cast) -> None:
    with pytest.raises(NotAMember):
        actor_for_session(cast.mallory.user, cast.tenant)


def test_nobody_acts_in_a_suspended_tenant(cast: Cast) -> None:
    Tenant.objects.filter(id=cast.tenant.id).update(status=Tenant.SUSPENDED)
    with pytest.raises(NotAMember):
        actor_for_session(cast.alice.user, cast.tenant)
    assert eligible_people(cast.tenant.id, frozenset({"approver"})) == frozenset()


def test_an_address_is_the_same_person_in_any_spelling(cast: Cast) -> None:
    assert User.objects.get_by_natural_key(cast.bob.user.email.upper()) == cast.bob.user
    with pytest.raises(IntegrityError):
        User.objects.create_user(cast.bob.user.email.upper())


def test_an_owner_adds_a_person_and_gives_roles(cast: Cast) -> None:
    member = add_member(cast.carol.actor, email=f"Dora-{uuid4()}@Example.com", roles=["approver"])
    assert member.user.email.startswith("dora-")
    assert not member.user.has_usable_password()
    assert set_roles(cast.carol.actor, user_id=member.user_id, roles=["viewer"]).roles == ["viewer"]
    assert member.user_id not in eligible_people(cast.tenant.id, frozenset({"approver"}))


def test_only_owners_change_members(cast: Cast) -> None:
    with pytest.raises(ScopeMissing):
        set_roles(cast.alice.actor, user_id=cast.alice.user.id, roles=[OWNER])


def test_members_of_another_tenant_are_out_of_reach(cast: Cast) -> None:
    with pytest.raises(NotAMember):
        remove_member(cast.mallory.actor, user_id=cast.alice.user.id)


def test_an_unknown_role_is_refused(cast: Cast) -> None:
    with pytest.raises(UnknownRole):
        set_roles(cast.carol.actor, user_id=cast.bob.user.id, roles=["emperor"])
    with pytest.raises(IntegrityError):
        Membership.objects.filter(tenant=cast.tenant).update(roles=["emperor"])


def test_the_last_owner_stays(cast: Cast) -> None:
    with pytest.raises(LastOwner):
        remove_member(cast.carol.actor, user_id=cast.carol.user.id)
    with pytest.raises(LastOwner):
        set_roles(cast.carol.actor, user_id=cast.carol.user.id, roles=["viewer"])


def test_two_owners_who_remove_each_other_at_once_leave_one(cast: Cast) -> None:
    dora = new_person(cast.tenant, "dora", [OWNER])
    barrier, refused = threading.Barrier(2), list[DomainError]()

    def remove(actor: object, victim: object) -> None:
        barrier.wait()
        try:
            remove_member(actor, user_id=victim)  # type: ignore[arg-type]
        except DomainError as error:
            refused.append(error)
        finally:
            connection.close()

    pairs = [(cast.carol.actor, dora.user.id), (dora.actor, cast.carol.user.id)]
    _all_at_once(threading.Thread(target=remove, args=pair) for pair in pairs)
    assert [type(error) for error in refused] == [LastOwner]
    assert Membership.objects.filter(tenant=cast.tenant, roles__contains=[OWNER]).count() == 1


def test_a_session_keeps_to_tenants_of_its_person(cast: Cast) -> None:
    session = SessionStore()
    assert tenant_of_session(session, cast.alice.user) == cast.tenant
    with pytest.raises(NotAMember):
        switch_tenant(session, cast.alice.user, cast.other_tenant.id)
    Membership.objects.create(tenant=cast.other_tenant, user=cast.alice.user, roles=["viewer"])
    switch_tenant(session, cast.alice.user, cast.other_tenant.id)
    assert tenant_of_session(session, cast.alice.user) == cast.other_tenant
    Membership.objects.filter(tenant=cast.other_tenant, user=cast.alice.user).delete()
    assert tenant_of_session(session, cast.alice.user) == cast.tenant


def _all_at_once(threads: Iterable[threading.Thread]) -> None:
    running = list(threads)
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
