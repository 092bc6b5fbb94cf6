"""Rows of one tenant are seen by nobody else, whatever SQL the plain role runs."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction

from agentops.tenancy.errors import NoTenant
from agentops.tenancy.ids import uuid7
from agentops.tenancy.rls import append_only, enable_rls, tenant_fk, tenant_key
from agentops.tenancy.transaction import current_tenant, tenant_transaction
from tests.cast import Cast

_PARENT, _CHILD = "proof_parent", "proof_child"


@pytest.fixture(scope="module")
def proof(database: None, django_db_blocker: object) -> Iterator[None]:
    """Two tables made as a migration makes them, by the owner."""
    made = [tenant_key(_PARENT), tenant_fk(_CHILD, "parent_id", _PARENT), enable_rls(_PARENT), enable_rls(_CHILD)]
    made.append(append_only(_CHILD))
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        _as_owner(
            f"CREATE TABLE {_PARENT} (tenant_id uuid NOT NULL, id uuid NOT NULL)",
            f"CREATE TABLE {_CHILD} (tenant_id uuid NOT NULL, id uuid NOT NULL, parent_id uuid)",
            *[str(operation.sql) for operation in made],
        )
        yield
        _as_owner(*[str(operation.reverse_sql) for operation in reversed(made)])
        _as_owner(f"DROP TABLE {_CHILD}", f"DROP TABLE {_PARENT}")


@pytest.mark.usefixtures("proof")
def test_without_a_tenant_nothing_is_seen(cast: Cast) -> None:
    _add_parent(cast.tenant.id)
    with transaction.atomic():
        assert _count(_PARENT) == 0


@pytest.mark.usefixtures("proof")
def test_another_tenant_sees_changes_and_removes_nothing(cast: Cast) -> None:
    _add_parent(cast.tenant.id)
    with tenant_transaction(cast.other_tenant.id), connection.cursor() as cursor:
        assert _count(_PARENT) == 0
        cursor.execute(f"UPDATE {_PARENT} SET id = id")
        assert cursor.rowcount == 0
        cursor.execute(f"DELETE FROM {_PARENT}")
        assert cursor.rowcount == 0
    with tenant_transaction(cast.tenant.id):
        assert _count(_PARENT) == 1


@pytest.mark.usefixtures("proof")
def test_a_row_for_another_tenant_is_refused(cast: Cast) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), tenant_transaction(cast.tenant.id):
        _insert(_PARENT, cast.other_tenant.id)


@pytest.mark.usefixtures("proof")
def test_a_row_cannot_be_moved_to_another_tenant(cast: Cast) -> None:
    _add_parent(cast.tenant.id)
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        tenant_transaction(cast.tenant.id),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE {_PARENT} SET tenant_id = %s", [cast.other_tenant.id])


@pytest.mark.usefixtures("proof")
def test_a_foreign_key_cannot_reach_into_another_tenant(cast: Cast) -> None:
    parent = _add_parent(cast.tenant.id)
    with pytest.raises(IntegrityError), tenant_transaction(cast.other_tenant.id), connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {_CHILD} VALUES (%s, %s, %s)", [cast.other_tenant.id, uuid7(), parent])


@pytest.mark.usefixtures("proof")
@pytest.mark.parametrize("change", [f"UPDATE {_CHILD} SET id = id", f"DELETE FROM {_CHILD}"])
def test_append_only_rows_cannot_be_changed_by_the_plain_role(cast: Cast, change: str) -> None:
    with tenant_transaction(cast.tenant.id):
        _insert(_CHILD, cast.tenant.id)
    with pytest.raises(ProgrammingError, match="permission denied"), tenant_transaction(cast.tenant.id):
        connection.cursor().execute(change)


@pytest.mark.usefixtures("proof")
def test_append_only_rows_cannot_be_changed_by_the_owner_either(cast: Cast) -> None:
    with tenant_transaction(cast.tenant.id):
        _insert(_CHILD, cast.tenant.id)
    with pytest.raises(ProgrammingError, match="append-only"), tenant_transaction(cast.tenant.id, using="owner"):
        connections["owner"].cursor().execute(f"UPDATE {_CHILD} SET id = id")


@pytest.mark.usefixtures("proof")
def test_the_owner_of_the_tables_is_kept_out_as_well(cast: Cast) -> None:
    _add_parent(cast.tenant.id)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {_PARENT} WHERE tenant_id = %s", [cast.tenant.id])
        assert cursor.fetchone() == (0,)


def test_a_pooled_connection_remembers_no_tenant(cast: Cast) -> None:
    with tenant_transaction(cast.tenant.id), connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        before = cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), nullif(current_setting('app.tenant', true), '')")
        assert cursor.fetchone() == (*before, None)


def test_the_plain_role_owns_no_table_and_bypasses_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False)
        cursor.execute("SELECT count(*) FROM pg_tables WHERE tableowner = current_user")
        assert cursor.fetchone() == (0,)


def test_every_table_with_a_tenant_is_kept_apart_but_the_identity_and_work_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'"
            " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace"
            " AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"
        )
        open_tables = {name for (name,) in cursor.fetchall()}
    assert open_tables <= {"tenancy_membership", "tenancy_serviceaccount", "tenancy_apikey", "runs_work_item"}


def test_tenant_transactions_do_not_nest(cast: Cast) -> None:
    with tenant_transaction(cast.tenant.id), pytest.raises(RuntimeError), tenant_transaction(cast.other_tenant.id):
        pass


def test_the_current_tenant_is_known_inside_and_nowhere_else(cast: Cast) -> None:
    with tenant_transaction(cast.tenant.id):
        assert current_tenant() == cast.tenant.id
    with pytest.raises(NoTenant):
        current_tenant()


def _as_owner(*statements: str) -> None:
    with connections["owner"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _add_parent(tenant_id: UUID) -> UUID:
    with tenant_transaction(tenant_id):
        return _insert(_PARENT, tenant_id)


def _insert(table: str, tenant_id: UUID) -> UUID:
    row = uuid4()
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} (tenant_id, id) VALUES (%s, %s)", [tenant_id, row])
    return row


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
