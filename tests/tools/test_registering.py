"""Registering, changing, switching and reading tools, against the real database as the plain role."""

import threading
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection
from pydantic import SecretStr

from agentops.tenancy.errors import ScopeMissing
from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast
from tools import registry
from tools.catalogue import BUILT_IN
from tools.credentials import credential_for, known_secrets, set_credential
from tools.domain.errors import InvalidCredential, InvalidTool, ToolMoved, ToolNameTaken, ToolNotFound, ToolRenamed
from tools.models import Credential, Tool, ToolVersion
from tools.operations import install_code_tools, install_specs, register_tool, set_enabled, update_tool
from tools.queries import find_tool, list_credentials, list_tools, list_versions
from tools.registry import current_versions, manifest_for, pinned, read_spec


def _definition(name: str = "invoice_read", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Read an invoice.",
        "kind": "http",
        "risk": "read",
        "required_scope": "ledger:read",
        "input_schema": {"type": "object", "properties": {"invoice_id": {"type": "string"}}},
        "http": {"url": "https://ledger.example:8443/invoices/{args.invoice_id}"},
        **fields,
    }


def test_a_registered_tool_is_current_and_pinned(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, _definition())
    with tenant_transaction(cast.tenant.id):
        tool = current_versions(cast.tenant.id, ["invoice_read", "nothing"])["invoice_read"]
        again = pinned([version.id])[version.id]
    assert (tool.version_id, tool.number, tool.enabled, tool.current) == (version.id, 1, True, True)
    assert again == tool
    assert again.spec.content_hash == version.content_hash


def test_a_change_makes_a_version_and_the_pinned_one_stays(cast: Cast) -> None:
    first = register_tool(cast.carol.actor, _definition())
    second = update_tool(cast.carol.actor, "invoice_read", _definition(description="Read one invoice."))
    with tenant_transaction(cast.tenant.id):
        old = pinned([first.id])[first.id]
        assert current_versions(cast.tenant.id, ["invoice_read"])["invoice_read"].version_id == second.id
        assert [v.number for v in list_versions(cast.tenant.id, "invoice_read")] == [2, 1]
    assert (old.current, old.spec.description) == (False, "Read an invoice.")
    assert old.schema_hash != second.schema_hash


def test_the_same_content_is_the_same_version(cast: Cast) -> None:
    first = register_tool(cast.carol.actor, _definition())
    update_tool(cast.carol.actor, "invoice_read", _definition(title="Invoice"))
    back = update_tool(cast.carol.actor, "invoice_read", dict(reversed(_definition().items())))
    assert back.id == first.id


def test_a_version_cannot_be_changed_by_sql(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, _definition())
    for sql in (
        "UPDATE tools_toolversion SET spec = '{}' WHERE id = %s",
        "DELETE FROM tools_toolversion WHERE id = %s",
    ):
        with pytest.raises(DatabaseError), tenant_transaction(cast.tenant.id), connection.cursor() as cursor:
            cursor.execute(sql, [version.id])


def test_a_name_is_taken_once_a_tenant(cast: Cast) -> None:
    register_tool(cast.carol.actor, _definition())
    register_tool(cast.mallory.actor, _definition())
    with pytest.raises(ToolNameTaken):
        register_tool(cast.carol.actor, _definition())


def test_another_tenant_sees_nothing(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, _definition())
    with tenant_transaction(cast.other_tenant.id):
        assert current_versions(cast.tenant.id, ["invoice_read"]) == {}
        assert pinned([version.id]) == {}
        assert not Tool.objects.exists()
        assert not ToolVersion.objects.exists()
        with pytest.raises(ToolNotFound):
            find_tool(cast.tenant.id, "invoice_read")


def test_a_rename_is_refused(cast: Cast) -> None:
    register_tool(cast.carol.actor, _definition())
    with pytest.raises(ToolRenamed):
        update_tool(cast.carol.actor, "invoice_read", _definition("invoice_fetch"))


def test_only_who_may_write_tools_does(cast: Cast) -> None:
    with pytest.raises(ScopeMissing):
        register_tool(cast.alice.actor, _definition())
    register_tool(cast.carol.actor, _definition())
    with pytest.raises(ScopeMissing):
        set_enabled(cast.bob.actor, "invoice_read", enabled=False)


def test_an_edit_of_what_somebody_else_changed_is_refused(cast: Cast) -> None:
    register_tool(cast.carol.actor, _definition())
    with tenant_transaction(cast.tenant.id):
        seen = find_tool(cast.tenant.id, "invoice_read").revision
    set_enabled(cast.carol.actor, "invoice_read", enabled=False, revision=seen)
    with pytest.raises(ToolMoved):
        update_tool(cast.carol.actor, "invoice_read", _definition(title="Mine"), revision=seen)


def test_switching_off_shows_in_pinned_versions_at_once(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, _definition())
    set_enabled(cast.carol.actor, "invoice_read", enabled=False)
    with tenant_transaction(cast.tenant.id):
        assert pinned([version.id])[version.id].enabled is False


def test_a_cached_version_costs_one_statement(cast: Cast, django_assert_num_queries: Any) -> None:
    register_tool(cast.carol.actor, _definition())
    with tenant_transaction(cast.tenant.id):
        current_versions(cast.tenant.id, ["invoice_read"])
        with django_assert_num_queries(1):
            current_versions(cast.tenant.id, ["invoice_read"])


def test_the_manifest_shows_what_is_enabled_and_in_scope(cast: Cast) -> None:
    register_tool(cast.carol.actor, _definition())
    register_tool(cast.carol.actor, _definition("invoice_write", risk="write", required_scope="ledger:write"))
    register_tool(cast.carol.actor, _definition("invoice_off"))
    set_enabled(cast.carol.actor, "invoice_off", enabled=False)
    with tenant_transaction(cast.tenant.id):
        tools = current_versions(cast.tenant.id, ["invoice_read", "invoice_write", "invoice_off"]).values()
    assert [t["name"] for t in manifest_for(frozenset({"ledger:read"}), tools)] == ["invoice_read"]
    assert [t["name"] for t in manifest_for(frozenset({"*"}), tools)] == ["invoice_read", "invoice_write"]


def test_a_probe_must_exist_and_be_a_read(cast: Cast) -> None:
    condition = {"name": "unchanged", "probe": {"tool": "invoice_read", "args": {"invoice_id": {"$cel": "args.id"}}}}
    paying = _definition("pay", risk="destructive", preconditions=[condition])
    with pytest.raises(InvalidTool) as missing:
        register_tool(cast.carol.actor, paying)
    assert missing.value.details["errors"][0]["pointer"] == "/preconditions/0/probe/tool"
    register_tool(cast.carol.actor, _definition(risk="write"))
    with pytest.raises(InvalidTool, match="not a read"):
        register_tool(cast.carol.actor, paying)
    update_tool(cast.carol.actor, "invoice_read", _definition())
    assert register_tool(cast.carol.actor, paying).number == 1


def test_code_tools_are_installed_once(cast: Cast) -> None:
    first = install_code_tools(cast.tenant.id, BUILT_IN)
    again = install_code_tools(cast.tenant.id, BUILT_IN)
    assert [v.id for v in first] == [v.id for v in again]
    with tenant_transaction(cast.tenant.id):
        assert [row.name for row in list_tools(cast.tenant.id).rows] == sorted(BUILT_IN)


def test_two_installing_at_once_make_one_version(cast: Cast) -> None:
    barrier = threading.Barrier(2)
    seen: list[UUID] = []

    def install() -> None:
        barrier.wait(5)
        seen.extend(v.id for v in install_code_tools(cast.tenant.id, ["slow_read"]))
        connection.close()

    threads = [threading.Thread(target=install) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(seen) == 2
    assert len(set(seen)) == 1


def test_lists_are_paged_by_name_and_searched(cast: Cast) -> None:
    names = [f"tool_{n:02}" for n in range(7)]
    specs = [read_spec(register_tool(cast.carol.actor, _definition(name)).spec) for name in names[:2]]
    install_specs(cast.tenant.id, [specs[0].model_copy(update={"name": name}) for name in names[2:]], by="test")
    with tenant_transaction(cast.tenant.id):
        first = list_tools(cast.tenant.id, limit=3)
        second = list_tools(cast.tenant.id, limit=3, after=first.next or "")
        third = list_tools(cast.tenant.id, limit=3, after=second.next or "")
        found = list_tools(cast.tenant.id, search="_03", used_by=lambda _, names: {name: ["demo"] for name in names})
        writes = list_tools(cast.tenant.id, risk="write")
    assert [row.name for page in (first, second, third) for row in page.rows] == names
    assert (third.next, len(third.rows)) == (None, 1)
    assert [(row.name, row.used_by) for row in found.rows] == [("tool_03", ("demo",))]
    assert writes.rows == ()


def test_a_credential_is_sealed_and_opened_for_its_tool_alone(cast: Cast) -> None:
    bearer = SecretStr("bearer-0123456789")
    set_credential(cast.carol.actor, "ledger", "ledger.example:8443", bearer)
    version = register_tool(cast.carol.actor, _definition(credential="ledger"))
    with tenant_transaction(cast.tenant.id):
        assert b"bearer" not in bytes(Credential.objects.get().sealed)
        assert credential_for(cast.tenant.id, read_spec(version.spec)) == bearer
        assert known_secrets(cast.tenant.id) == {"bearer-0123456789"}
        assert "bearer-0123456789" not in repr(list_credentials(cast.tenant.id))
    other = _definition("other", credential="ledger", http={"url": "https://evil.example/{args.invoice_id}"})
    with pytest.raises(InvalidTool, match="only be sent to"):
        register_tool(cast.carol.actor, other)
    with pytest.raises(InvalidTool, match="no credential"):
        register_tool(cast.mallory.actor, _definition(credential="ledger"))


def test_a_credential_can_be_replaced_but_not_moved(cast: Cast) -> None:
    set_credential(cast.carol.actor, "ledger", "ledger.example:8443", SecretStr("bearer-0123456789"))
    set_credential(cast.carol.actor, "ledger", "ledger.example:8443", SecretStr("bearer-9876543210"))
    with pytest.raises(InvalidCredential, match="keeps its destination"):
        set_credential(cast.carol.actor, "ledger", "evil.example:443", SecretStr("bearer-9876543210"))
    with tenant_transaction(cast.tenant.id):
        assert known_secrets(cast.tenant.id) == {"bearer-9876543210"}


@pytest.mark.parametrize(("name", "where", "bearer"), [
    ("", "a.example:443", "bearer-0123456789"),
    ("x", "a.example", "bearer-0123456789"),
    ("x", "A.example:443", "bearer-0123456789"),
    ("x", "u@a.example:443", "bearer-0123456789"),
    ("x", "a.example:443", "short"),
    ("x", "a.example:443", "with\nnewline-0123"),
])  # fmt: skip
def test_a_credential_that_cannot_be_sent_is_refused(cast: Cast, name: str, where: str, bearer: str) -> None:
    with pytest.raises(InvalidCredential) as refused:
        set_credential(cast.carol.actor, name, where, SecretStr(bearer))
    assert bearer not in refused.value.message
    assert registry.read_spec.cache_info().maxsize
