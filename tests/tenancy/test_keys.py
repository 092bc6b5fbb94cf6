"""API keys: who may make which, and when they stop working."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agentops.tenancy.access import authenticate_key, rights_now
from agentops.tenancy.actor import requesters
from agentops.tenancy.errors import KeyNotFound, KeyRejected, PeopleOnlyScope, ScopeMissing, ScopeNotGrantable
from agentops.tenancy.keys import create_key, create_service_account, disable_service_account, revoke_key
from agentops.tenancy.last_use import write_noted_uses
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import ApiKey, Membership, Tenant
from tests.cast import Cast


def test_a_key_is_found_with_one_query(cast: Cast) -> None:
    with CaptureQueriesContext(connection) as queries:
        actor = authenticate_key(cast.service.raw_key)
    assert len(queries) == 1
    assert actor.tenant_id == cast.tenant.id
    assert actor.principal == f"service:{cast.service.account.id}"


def test_only_the_hash_of_the_secret_is_stored(cast: Cast) -> None:
    secret = cast.service.raw_key.split("_", 2)[2]
    row = ApiKey.objects.filter(id=cast.service.key.id).values().get()
    assert secret not in repr(row)
    assert len(bytes(row["secret_sha256"])) == 32


def test_a_persons_key_acts_for_the_person(cast: Cast) -> None:
    actor = cast.bob.key_actor
    assert actor.user_id == cast.bob.user.id
    assert actor.principal == f"key:{cast.bob.key.id}"
    assert requesters(actor) == {cast.bob.user.id}


def test_the_owner_answers_for_a_service_account(cast: Cast) -> None:
    assert requesters(cast.service.actor) == {cast.carol.user.id}
    assert not cast.service.actor.is_person


@pytest.mark.parametrize("spoil", [lambda raw: raw[:-1] + ("a" if raw[-1] != "a" else "b"), lambda raw: raw + "x"])
def test_a_changed_secret_is_rejected(cast: Cast, spoil: Callable[[str], str]) -> None:
    with pytest.raises(KeyRejected) as rejected:
        authenticate_key(spoil(cast.service.raw_key))
    assert rejected.value.details["reason"] == "unknown"


@pytest.mark.parametrize("raw", ["", "ao", "ao__", "ao_000000000000_", "ao_000000000000_x", "x" * 9000, "é_\x00_"])
def test_what_is_no_key_is_rejected(raw: str) -> None:
    with pytest.raises(KeyRejected):
        authenticate_key(raw)


def _expire(cast: Cast) -> None:
    ApiKey.objects.filter(id=cast.service.key.id).update(expires_at=timezone.now() - timedelta(seconds=1))


def _revoke(cast: Cast) -> None:
    revoke_key(cast.carol.actor, key_id=cast.service.key.id)


def _disable(cast: Cast) -> None:
    disable_service_account(cast.carol.actor, service_account_id=cast.service.account.id)


def _suspend(cast: Cast) -> None:
    Tenant.objects.filter(id=cast.tenant.id).update(status=Tenant.SUSPENDED)


def _remove_owner(cast: Cast) -> None:
    Membership.objects.filter(tenant=cast.tenant, user=cast.carol.user).delete()


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (_expire, "expired"),
        (_revoke, "revoked"),
        (_disable, "service_account_disabled"),
        (_suspend, "tenant_suspended"),
        (_remove_owner, "member_removed"),
    ],
)
def test_a_key_stops_working_and_says_why(cast: Cast, end: Callable[[Cast], None], reason: str) -> None:
    actor = cast.service.actor
    assert rights_now(cast.tenant.id, actor.principal, actor.key_id).alive
    end(cast)
    with pytest.raises(KeyRejected) as rejected:
        authenticate_key(cast.service.raw_key)
    assert rejected.value.details["reason"] == reason
    rights = rights_now(cast.tenant.id, actor.principal, actor.key_id)
    assert (rights.alive, rights.reason, rights.scopes) == (False, reason, frozenset())


def test_a_removed_members_key_and_session_have_no_rights(cast: Cast) -> None:
    in_browser, by_key = cast.alice.actor, cast.alice.key_actor
    remove_member(cast.carol.actor, user_id=cast.alice.user.id)
    for actor in (in_browser, by_key):
        assert rights_now(cast.tenant.id, actor.principal, actor.key_id).reason == "member_removed"


def test_a_persons_key_never_has_more_than_the_person(cast: Cast) -> None:
    assert cast.alice.key_actor.allows("approvals:decide")
    set_roles(cast.carol.actor, user_id=cast.alice.user.id, roles=["viewer"])
    assert cast.alice.key_actor.scopes == {"runs:read", "approvals:read", "tools:read", "audit:read"}


def test_a_key_of_another_tenant_has_no_rights_here(cast: Cast) -> None:
    actor = cast.mallory.key_actor
    assert rights_now(cast.tenant.id, actor.principal, actor.key_id).reason == "key_unknown"


def test_only_a_persons_key_may_decide_and_then_carries_no_tool_scope(cast: Cast) -> None:
    carol = cast.carol.actor
    with pytest.raises(PeopleOnlyScope):
        create_key(carol, name="x", scopes=["approvals:decide"], service_account_id=cast.service.account.id)
    with pytest.raises(PeopleOnlyScope):
        create_key(carol, name="x", scopes=["approvals:decide", "ledger:write"])
    assert create_key(carol, name="x", scopes=["approvals:decide"]).key.user_id == cast.carol.user.id


def test_the_database_refuses_a_deciding_service_key_too(cast: Cast) -> None:
    with pytest.raises(IntegrityError, match="people_decide"):
        ApiKey.objects.filter(id=cast.service.key.id).update(scopes=["approvals:decide"])


@pytest.mark.parametrize("scope", ["tools:write", "runs:write", "ledger:write", "*"])
def test_a_member_grants_only_what_they_have(cast: Cast, scope: str) -> None:
    with pytest.raises(ScopeNotGrantable):
        create_key(cast.bob.actor, name="x", scopes=[scope])


def test_a_key_makes_no_keys(cast: Cast) -> None:
    with pytest.raises(ScopeNotGrantable):
        create_key(cast.carol.key_actor, name="x", scopes=["runs:read"])


def test_only_owners_make_service_accounts(cast: Cast) -> None:
    with pytest.raises(ScopeMissing):
        create_service_account(cast.alice.actor, name="mine")


def test_a_key_of_another_tenant_or_person_cannot_be_revoked(cast: Cast) -> None:
    for actor in (cast.mallory.actor, cast.bob.actor):
        with pytest.raises(KeyNotFound):
            revoke_key(actor, key_id=cast.service.key.id)
    assert cast.service.actor.key_id == cast.service.key.id


def test_the_last_use_is_written_after_the_answer_and_once_a_minute(cast: Cast) -> None:
    authenticate_key(cast.service.raw_key)
    assert ApiKey.objects.get(id=cast.service.key.id).last_used_at is None
    write_noted_uses()
    first = ApiKey.objects.get(id=cast.service.key.id).last_used_at
    assert first is not None
    authenticate_key(cast.service.raw_key)
    write_noted_uses()
    assert ApiKey.objects.get(id=cast.service.key.id).last_used_at == first
