"""What the installation has signed about its logs."""

from django.db import models

from agentops.tenancy.ids import uuid7


class Checkpoint(models.Model):
    """One signed statement: where the logs of some runs and of the tenant ended at that moment.

    `body` is the signed canonical text; `heads` the leaves of its tree, a JSON list of `[run, seq, hash]` by run.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    body = models.TextField()
    heads = models.TextField()
    signature = models.CharField(max_length=100)
    public_key = models.CharField(max_length=60)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "number"], name="checkpoint_number_once")]
        indexes = [models.Index(fields=["tenant", "at"], name="checkpoint_at")]
