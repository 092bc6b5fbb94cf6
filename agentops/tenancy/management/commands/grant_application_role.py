"""Grants the role of DATABASE_URL what the product needs, on a database server that is not the embedded one."""

from typing import Any

from django.core.management.base import BaseCommand

from agentops.tenancy.grants import grant_application_role


class Command(BaseCommand):
    """Run as the owner, once before or after `migrate --database owner`."""

    help = "Grants the role named in DATABASE_URL its rights on the tables of DATABASE_OWNER_URL's role."

    def handle(self, *args: Any, **options: Any) -> None:
        role = grant_application_role()
        self.stdout.write(f"{role} may read and write the product's tables.")
