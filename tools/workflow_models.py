"""Workflows, their immutable versions, and where each handle stands."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import Tenant
from tools.domain.workflow import MAX_HANDLE


class Workflow(models.Model):
    """A named workflow of a tenant; what it is stands in its current version. The name never changes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    name = models.CharField(max_length=40)
    current = models.ForeignKey(
        "tools.WorkflowVersion", null=True, on_delete=models.PROTECT, db_constraint=False, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["tenant", "name"], name="tools_workflow_name_once")]

    def __str__(self) -> str:
        return self.name


class WorkflowVersion(models.Model):
    """One definition, never changed: `spec` is its canonical text, `content_hash` the SHA-256 of that."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    workflow = models.ForeignKey(
        Workflow, on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="versions"
    )
    number = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    spec = models.TextField()
    created_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "workflow", "number"], name="tools_workflowversion_number_once"),
            models.UniqueConstraint(
                fields=["tenant", "workflow", "content_hash"], name="tools_workflowversion_content_once"
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"


class WorkflowInstance(models.Model):
    """Where one handle stands. While a call that will move it is in flight, `taken_by` is its step.

    `taken_event` and `taken_to` are what its success will do; nobody else can move the handle before its outcome is
    known.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    workflow = models.ForeignKey(
        Workflow, on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="instances"
    )
    handle = models.CharField(max_length=MAX_HANDLE)
    state = models.TextField()
    revision = models.PositiveIntegerField(default=1)
    taken_by = models.UUIDField(null=True)
    taken_event = models.CharField(max_length=80, default="")
    taken_to = models.TextField(default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "workflow", "handle"], name="tools_workflowinstance_handle_once"),
            models.CheckConstraint(
                condition=Q(taken_by=None, taken_to="") | (Q(taken_by__isnull=False) & ~Q(taken_to="")),
                name="tools_workflowinstance_taken_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.handle
