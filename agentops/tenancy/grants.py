"""What the plain role may do: everything that a table's rows need, nothing that changes tables."""

from django.db import connections
from psycopg import sql

_OPEN_TABLES = """
SELECT quote_ident(relname), EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = 'append_only')
FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
AND pg_has_role(relowner, 'USAGE')
"""


def application_role() -> str:
    """The role that DATABASE_URL names."""
    return str(connections["default"].settings_dict["USER"])


def grant_application_role(*, using: str = "owner") -> str:
    """Grants the plain role what it needs on present and later tables of this owner; returns the role's name."""
    role = application_role()
    grantee = sql.Identifier(role)
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT current_user = %s", [role])
        if cursor.fetchone() == (True,):
            raise ValueError("DATABASE_URL and DATABASE_OWNER_URL name the same role; the application needs its own.")
        cursor.execute(_OPEN_TABLES)
        for table, is_append_only in cursor.fetchall():
            rights = "SELECT, INSERT" if is_append_only else "SELECT, INSERT, UPDATE, DELETE"
            cursor.execute(sql.SQL(f"GRANT {rights} ON {table} TO {{}}").format(grantee))
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {}",
        ):
            cursor.execute(sql.SQL(statement).format(grantee))
    return role
