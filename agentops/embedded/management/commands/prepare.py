"""`manage.py prepare`: everything in the database that only its owner may make."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser, call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from agentops.embedded.demonstration import seed_demo
from agentops.embedded.lifeline import hold_on
from agentops.embedded.preparation import FORGOTTEN
from agentops.embedded.queues import install_queues

# Its many changes of columns take Django long once it has to keep our tables in mind, too.
_FIRST = ("oauth2_provider",)


class Command(BaseCommand):
    """Grants for the plain role, migrations, and the broker's tables."""

    help = "Prepare the database as its owner: grants, migrations, queues."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """What `up` adds."""
        parser.add_argument("--seed", type=Path, help="then make the demo, and write demo.json into this folder")
        parser.add_argument("--url", default="", help="the address in demo.json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run each part; all of them may be run again."""
        hold_on()
        _grant(settings.DATABASES["default"]["USER"])
        applied = self._migrate()
        if settings.CELERY_BROKER_URL.startswith("pgmq"):
            install_queues(settings.DATABASES["owner"], settings.DATABASES["default"]["USER"])
        _forget_former_processes()
        if options["verbosity"]:
            self.stdout.write(f"{applied} migrations applied")
            self.stdout.flush()
        connections["owner"].close()
        if options.get("seed"):
            seed_demo(options["seed"], options["url"])

    def _migrate(self) -> int:
        executor = MigrationExecutor(connections["owner"])
        due = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if due:
            for only in (_FIRST, ()):
                call_command("migrate", *only, database="owner", verbosity=0, interactive=False)
        return len(due)


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
    with connections["owner"].cursor() as cursor:
        for table in FORGOTTEN:
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - three fixed names
