"""The log of a run: what happened, chained so that no entry can be changed or left out."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from agentops.tenancy.ids import uuid7


class Event(models.Model):
    """One entry of a run's append-only, hash-chained log. `data` is canonical text."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    run = models.ForeignKey(
        "runs.Run", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="events"
    )
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=254)
    at = models.DateTimeField()
    data = models.TextField()
    hash = models.CharField(max_length=64)
    prev_hash = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "run", "seq"], name="event_seq_once")]
        indexes = [BrinIndex(fields=["at"], name="event_at", autosummarize=True)]
