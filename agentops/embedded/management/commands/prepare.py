"""`manage.py prepare`: everything in the database that only its owner may make."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from agentops.embedded.queues import install_queues


class Command(BaseCommand):
    """Grants for the plain role, migrations, and the broker's tables."""

    help = "Prepare the database as its owner: grants, migrations, queues."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run each part; all of them may be run again."""
        _grant(settings.DATABASES["default"]["USER"])
        self._migrate()
        if settings.CELERY_BROKER_URL.startswith("pgmq"):
            install_queues(settings.DATABASES["owner"], settings.DATABASES["default"]["USER"])
        _forget_former_processes()
        connections["owner"].close()

    def _migrate(self) -> None:
        executor = MigrationExecutor(connections["owner"])
        due = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if due:
            call_command("migrate", database="owner", verbosity=0, interactive=False)
        self.stdout.write(f"database | {len(due)} migrations applied")


def _grant(role: str) -> None:
    connection = connections["owner"]
    if role == connection.settings_dict["USER"]:
        return
    privileges = (
        "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES",
        "GRANT USAGE, SELECT ON SEQUENCES",
        "GRANT EXECUTE ON FUNCTIONS",
    )
    with connection.cursor() as cursor:
        for privilege in privileges:
            statement = sql.SQL("ALTER DEFAULT PRIVILEGES IN SCHEMA public " + privilege + " TO {}")
            cursor.execute(statement.format(sql.Identifier(role)))


def _forget_former_processes() -> None:
    # Pulses of the workers and listeners of the web processes that ran before say nothing about the next ones.
    with connections["owner"].cursor() as cursor:
        for table in ("embedded_pulse", "channels_postgres_groupchannel", "channels_postgres_message"):
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - three fixed names
