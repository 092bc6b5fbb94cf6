"""`audit verify` reads every log again and names what does not follow; `audit checkpoints` prints what was signed."""

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentops.tenancy.models import Tenant
from agentops.tenancy.transaction import tenant_transaction
from runs.models import Checkpoint
from runs.verifying import broken_checkpoint, verify_everything


class Command(BaseCommand):
    """Exits with 1 when anything was changed."""

    help = "Verifies the hash chains and checkpoints of every tenant, or prints the checkpoints."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=["verify", "checkpoints"])
        parser.add_argument("--tenant", help="the slug of one tenant; without it, all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = Tenant.objects.order_by("slug")
        if options["tenant"]:
            tenants = tenants.filter(slug=options["tenant"])
            if not tenants.exists():
                raise CommandError(f"There is no tenant {options['tenant']}.")
        if options["act"] == "checkpoints":
            self._print(tenants)
            return
        faults = [fault for tenant in tenants for fault in self._read(tenant)]
        for fault in faults:
            self.stderr.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} of the logs were changed.")

    def _print(self, tenants: Iterable[Tenant]) -> None:
        """One JSON object a line, for a place that this installation cannot write to."""
        for tenant in tenants:
            with tenant_transaction(tenant.id):
                for row in Checkpoint.objects.filter(tenant_id=tenant.id).order_by("number").iterator():
                    kept = {"body": row.body, "signature": row.signature, "public_key": row.public_key}
                    self.stdout.write(json.dumps(kept))

    def _read(self, tenant: Tenant) -> list[str]:
        chains, events, faults = 0, 0, []
        for run_id, verdict in verify_everything(tenant.id):
            chains, events = chains + 1, events + verdict.events
            if verdict.first_bad is not None:
                whose = f"run {run_id}" if run_id else "its configuration"
                faults.append(f"{tenant.slug}: the log of {whose} is broken at event {verdict.first_bad}")
        if (bad := broken_checkpoint(tenant.id)) is not None:
            faults.append(f"{tenant.slug}: checkpoint {bad} does not hold")
        self.stdout.write(f"{tenant.slug}: {chains} logs, {events} events, {len(faults)} broken")
        return faults
