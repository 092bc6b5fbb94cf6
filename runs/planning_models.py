"""What models were asked and what they answered: one row a request, the claim of a planning and its record."""

from django.db import models

from agentops.tenancy.ids import uuid7
from runs.domain.budget import plain_amount


class ModelRequest(models.Model):
    """One request to a model. While `outcome` is null a worker holds its lease, and `reserved_*` its budgets.

    `prompt` and `answer` are JSON with every secret as a tag, for people; `sealed` is the answer as it came, for the
    engine. `turn` is the turn that it plans.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    run = models.ForeignKey(
        "runs.Run", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="model_calls"
    )
    number = models.PositiveIntegerField()
    turn = models.PositiveIntegerField()
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    outcome = models.CharField(max_length=10, null=True)
    detail = models.TextField(default="")
    prompt = models.TextField()
    answer = models.TextField(default="")
    sealed = models.BinaryField(null=True)
    reserved_tokens = models.BigIntegerField()
    reserved_money = models.DecimalField(max_digits=24, decimal_places=12)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    currency = models.CharField(max_length=3, default="")
    lease_owner = models.UUIDField()
    lease_until = models.DateTimeField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "run", "number"], name="model_call_once"),
            models.UniqueConstraint(
                fields=["tenant", "run"], condition=models.Q(outcome=None), name="model_call_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome=None, finished_at=None)
                | models.Q(
                    outcome__in=["answered", "unusable", "failed", "lost", "abandoned"], finished_at__isnull=False
                ),
                name="model_call_ended_iff_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.outcome or 'asked'})"

    @property
    def price(self) -> str:
        """What it cost, as people read it; empty where nobody knows."""
        return "" if self.cost is None else f"{plain_amount(self.cost)} {self.currency}"
