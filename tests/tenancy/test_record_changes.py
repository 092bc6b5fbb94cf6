"""Whatever changes a tenant's configuration is in its log, in the same transaction, and nothing secret is."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connections
from django.utils import timezone
from pydantic import SecretStr

from agentops.tenancy.changes import verify_changes
from agentops.tenancy.errors import LastOwner
from agentops.tenancy.keys import (
    change_service_account,
    create_key,
    create_service_account,
    disable_service_account,
    revoke_key,
)
from agentops.tenancy.members import add_member, remove_member, set_roles
from agentops.tenancy.models import Change
from agentops.tenancy.transaction import tenant_transaction
from runs.operations.configuring import create_agent, install_agent, update_agent
from tests.cast import Cast
from tests.runs.scenario import TOOLS, new_stage
from tools.credentials import set_credential
from tools.domain.canonical import canonical, parse
from tools.operations import install_code_tools, set_enabled


def test_members_accounts_and_keys_leave_their_traces(cast: Cast) -> None:
    before, carol = len(_log(cast)), cast.carol.actor
    dave = add_member(carol, email=f"dave-{cast.tenant.slug}@example.com", roles=["viewer"])
    set_roles(carol, user_id=dave.user_id, roles=["operator", "viewer"])
    remove_member(carol, user_id=dave.user_id)
    account = create_service_account(carol, name="robot")
    change_service_account(carol, service_account_id=account.id, name="android", owner_id=cast.bob.user.id)
    made = create_key(carol, name="k", scopes=["runs:read"], service_account_id=account.id,
                      expires_at=timezone.now() + timedelta(days=1))  # fmt: skip
    for _ in range(2):
        revoke_key(carol, key_id=made.key.id)
        disable_service_account(carol, service_account_id=account.id)
    rows = _log(cast)[before:]
    assert [row.kind for row in rows] == [
        "member.added", "member.changed", "member.removed", "account.created", "account.changed", "key.created",
        "key.revoked", "account.disabled",
    ]  # fmt: skip
    assert {row.actor for row in rows} == {cast.carol.user.email}
    changed, created = parse(rows[1].data), parse(rows[5].data)
    assert isinstance(changed, dict)
    assert isinstance(created, dict)
    assert changed["roles"] == ["operator", "viewer"]
    assert (created["holder"], created["scopes"]) == (f"service:{account.id}", ["runs:read"])
    assert all(made.raw.split("_", 2)[2] not in row.data for row in rows)


def test_tools_credentials_and_agents_leave_theirs_and_the_same_again_leaves_none(cast: Cast) -> None:
    new_stage(cast)
    before, owner = len(_log(cast)), cast.carol.actor
    agent: dict[str, Any] = {"slug": "a", "name": "Ä\n", "planner": "external", "tools": TOOLS}
    create_agent(owner, **agent)
    for _ in range(2):
        install_code_tools(cast.tenant.id, TOOLS)
        set_enabled(owner, "t_note", enabled=False)
        update_agent(owner, "a", enabled=False, name="Ä\n")
    install_agent(cast.tenant.id, **{**agent, "name": "B"})
    set_credential(owner, "bank", "bank.example:443", SecretStr("a-very-secret-bearer"))
    rows = _log(cast)[before:]
    assert [row.kind for row in rows] == [
        "agent.saved", "tool.disabled", "agent.disabled", "agent.saved", "credential.stored",
    ]  # fmt: skip
    assert all("a-very-secret-bearer" not in row.data for row in rows)
    assert all(canonical(parse(row.data)) == row.data for row in _log(cast))
    with tenant_transaction(cast.tenant.id):
        assert verify_changes(cast.tenant.id).first_bad is None


def test_what_is_refused_leaves_no_trace(cast: Cast) -> None:
    before = len(_log(cast))
    with pytest.raises(LastOwner):
        remove_member(cast.carol.actor, user_id=cast.carol.user.id)
    assert len(_log(cast)) == before


@pytest.mark.parametrize("alias", ["default", "owner"])
def test_the_log_only_grows(cast: Cast, alias: str) -> None:
    for change in ("UPDATE tenancy_change SET actor = 'x'", "DELETE FROM tenancy_change"):
        with pytest.raises(DatabaseError), tenant_transaction(cast.tenant.id, using=alias):
            connections[alias].cursor().execute(change)
    with tenant_transaction(cast.other_tenant.id):
        assert not Change.objects.filter(tenant_id=cast.tenant.id).exists()


def _log(cast: Cast) -> list[Change]:
    with tenant_transaction(cast.tenant.id):
        return list(Change.objects.order_by("seq"))
