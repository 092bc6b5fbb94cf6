"""The broker's tables in the product's own database (pgmq), made by the owner and lent to the plain role."""

from typing import Any

import psycopg
from pgmq.install import get_embedded_install_sql
from psycopg import sql

from agentops.databases import keyword_conninfo

QUEUES = ("control", "sandbox")

# pgmq's own trigger updates one row per queue for each message, which makes all senders wait for each other.
_WAKE = """
CREATE OR REPLACE FUNCTION pgmq.wake_{queue}() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_notify('pgmq.q_{queue}.INSERT', ''); RETURN NULL; END $$;
CREATE OR REPLACE TRIGGER wake AFTER INSERT ON pgmq.q_{queue}
FOR EACH STATEMENT EXECUTE FUNCTION pgmq.wake_{queue}();
"""


def install_queues(owner: dict[str, Any], app_role: str) -> None:
    """Install pgmq's functions once, the queues, and what `app_role` needs to use them."""
    with psycopg.connect(keyword_conninfo(owner)) as connection:
        if connection.execute("SELECT to_regnamespace('pgmq')").fetchone() == (None,):
            connection.execute(get_embedded_install_sql())
        _grant(connection, app_role)
        known = {name for (name,) in connection.execute("SELECT queue_name FROM pgmq.meta")}
        for queue in QUEUES:
            if queue not in known:
                # Unlogged: a message is a nudge, and what a crash loses the sweep sends again.
                connection.execute("SELECT pgmq.create_unlogged(%s)", (queue,))
                connection.execute(_WAKE.format(queue=queue))


def _grant(connection: psycopg.Connection[Any], role: str) -> None:
    everything = (
        "GRANT USAGE ON SCHEMA pgmq TO {}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA pgmq GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA pgmq GRANT USAGE, SELECT ON SEQUENCES TO {}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgmq TO {}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA pgmq TO {}",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pgmq TO {}",
    )
    for statement in everything:
        connection.execute(sql.SQL(statement).format(sql.Identifier(role)))
