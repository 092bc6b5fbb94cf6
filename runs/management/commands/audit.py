"""`audit verify`: reads every log again and names the first event that does not follow."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentops.tenancy.models import Tenant
from runs.verifying import verify_everything


class Command(BaseCommand):
    """Exits with 1 when anything was changed."""

    help = "Verifies the hash chains of every tenant and of every run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=["verify"])
        parser.add_argument("--tenant", help="the slug of one tenant; without it, all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = Tenant.objects.order_by("slug")
        if options["tenant"]:
            tenants = tenants.filter(slug=options["tenant"])
            if not tenants.exists():
                raise CommandError(f"There is no tenant {options['tenant']}.")
        faults = [fault for tenant in tenants for fault in self._read(tenant)]
        for fault in faults:
            self.stderr.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} of the logs were changed.")

    def _read(self, tenant: Tenant) -> list[str]:
        chains, events, faults = 0, 0, []
        for run_id, verdict in verify_everything(tenant.id):
            chains, events = chains + 1, events + verdict.events
            if verdict.first_bad is not None:
                whose = f"run {run_id}" if run_id else "its configuration"
                faults.append(f"{tenant.slug}: the log of {whose} is broken at event {verdict.first_bad}")
        self.stdout.write(f"{tenant.slug}: {chains} logs, {events} events, {len(faults)} broken")
        return faults
