"""The rows beside a run: its lock and alarm clock, and the memory of idempotent requests."""

from django.db import models

from agentops.tenancy.ids import uuid7


class WorkItem(models.Model):
    """One row a run: its lock, and when somebody must look at it next. No payload, no row-level security."""

    id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.CASCADE, related_name="+")
    queue = models.CharField(max_length=20)
    due_at = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)

    class Meta:
        db_table = "runs_work_item"
        indexes = [
            models.Index(fields=["queue", "due_at"], condition=models.Q(due_at__isnull=False), name="work_item_due")
        ]


class StartRecord(models.Model):
    """The memory of an idempotent request: (tenant, principal, route, key) names one run."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    principal = models.CharField(max_length=60)
    route = models.CharField(max_length=120)
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    run_id = models.UUIDField()
    turn = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "principal", "route", "key"], name="start_record_once")
        ]
        indexes = [models.Index(fields=["tenant", "created_at"], name="start_record_age")]
