"""Tools, their immutable versions, and the sealed credentials they authenticate with."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import Tenant
from tools.workflow_models import Workflow, WorkflowInstance, WorkflowVersion

__all__ = ["Credential", "Tool", "ToolVersion", "Workflow", "WorkflowInstance", "WorkflowVersion"]


class Tool(models.Model):
    """A named tool of a tenant; what it is stands in its current version. The name never changes.

    `revision` counts every change of this row, so that two people editing at once do not overwrite each other. `gated`:
    a workflow binds it to states, so that a run without one of these cannot call it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    name = models.CharField(max_length=40)
    current = models.ForeignKey(
        "tools.ToolVersion",
        null=True,
        on_delete=models.PROTECT,
        db_constraint=False,
        related_name="+",
    )
    enabled = models.BooleanField(default=True)
    quarantined = models.BooleanField(default=False)
    gated = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "name"], name="tools_tool_name_once"),
            models.CheckConstraint(
                condition=Q(name__regex="^[a-z][a-z0-9_]{0,39}$"),
                name="tools_tool_name_written",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ToolVersion(models.Model):
    """One definition, never changed: `spec` is its canonical text, `content_hash` the SHA-256 of that."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    tool = models.ForeignKey(
        Tool,
        on_delete=models.PROTECT,
        db_constraint=False,
        db_index=False,
        related_name="versions",
    )
    number = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    schema_hash = models.CharField(max_length=64)
    spec = models.TextField()
    created_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["tenant", "tool", "number"],
                name="tools_toolversion_number_once",
            ),
            models.UniqueConstraint(
                fields=["tenant", "tool", "content_hash"],
                name="tools_toolversion_content_once",
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"


class Credential(models.Model):
    """A bearer token, sealed, and the one `host:port` it may be sent to. Its secret can be replaced, never read."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    name = models.CharField(max_length=80)
    destination = models.CharField(max_length=300)
    sealed = models.BinaryField()
    created_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "name"], name="tools_credential_name_once"),
        ]

    def __str__(self) -> str:
        return self.name
