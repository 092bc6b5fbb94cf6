"""Migration operations that make the database keep tenants apart, and the grants of the plain role.

    operations = [
        ...,
        tenant_key("runs_run"),
        tenant_fk("runs_step", "run_id", "runs_run"),
        enable_rls("runs_run"),
        append_only("runs_event"),
    ]

Foreign-key checks bypass row-level security, so a key between two tenant tables carries the tenant: the model says
`db_constraint=False`, `tenant_fk` adds the constraint.
"""

from django.db.migrations.operations import RunSQL

TENANT_NOW = "nullif(current_setting('app.tenant', true), '')::uuid"


def enable_rls(table: str) -> RunSQL:
    """Rows of `table` are seen and written only in their own tenant's transaction, by the table's owner too."""
    same = f"tenant_id = {TENANT_NOW}"
    return RunSQL(
        sql=(
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY;'
            f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY;'
            f'CREATE POLICY tenant_only ON "{table}" USING ({same}) WITH CHECK ({same});'
        ),
        reverse_sql=(
            f'DROP POLICY tenant_only ON "{table}";'
            f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY;'
            f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY;'
        ),
    )


def tenant_key(table: str, *, column: str = "id") -> RunSQL:
    """UNIQUE (tenant_id, column): what a foreign key with the tenant points at."""
    name = f"{table}_tenant_{column}_key"
    return RunSQL(
        sql=f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" UNIQUE (tenant_id, "{column}")',
        reverse_sql=f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',
    )


def tenant_fk(table: str, column: str, target_table: str, *, deferred: bool = False) -> RunSQL:
    """FOREIGN KEY (tenant_id, column) to `target_table`, which has a `tenant_key`. A null column is not checked."""
    name = f"{table}_{column}_tenant_fk"
    when = " DEFERRABLE INITIALLY DEFERRED" if deferred else ""
    return RunSQL(
        sql=(
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY (tenant_id, "{column}")'
            f' REFERENCES "{target_table}" (tenant_id, id){when}'
        ),
        reverse_sql=f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',
    )


def append_only(table: str) -> RunSQL:
    """Rows of `table` are never changed or removed: a trigger says so, and no role but the owner is granted it.

    A table made append-only is recognised by its trigger, so `grant_application_role` leaves it as it is.
    """
    return RunSQL(
        sql=(
            f'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON "{table}"'
            f" FOR EACH ROW EXECUTE FUNCTION tenancy_append_only();"
            f"{_for_each_writer(table, 'REVOKE UPDATE, DELETE ON %s FROM %s')}"
        ),
        reverse_sql=(
            f'DROP TRIGGER append_only ON "{table}";{_for_each_writer(table, "GRANT UPDATE, DELETE ON %s TO %s")}'
        ),
    )


def append_only_function() -> RunSQL:
    """The trigger function behind `append_only`."""
    return RunSQL(
        sql=(
            "CREATE FUNCTION tenancy_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';"
            " END $$"
        ),
        reverse_sql="DROP FUNCTION tenancy_append_only()",
    )


def _for_each_writer(table: str, statement: str) -> str:
    return (
        "DO $$ DECLARE writer text; BEGIN FOR writer IN SELECT DISTINCT quote_ident(rolname)"  # noqa: S608
        " FROM pg_class, aclexplode(relacl) acl JOIN pg_roles ON pg_roles.oid = acl.grantee"
        f" WHERE pg_class.oid = '\"{table}\"'::regclass AND acl.privilege_type = 'INSERT'"
        " AND acl.grantee <> relowner"
        f" LOOP EXECUTE format('{statement}', '\"{table}\"', writer); END LOOP; END $$;"
    )
