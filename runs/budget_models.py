"""What a team's runs may spend where their agent says nothing."""

from django.db import models

from agentops.tenancy.ids import uuid7


class TeamBudget(models.Model):
    """A team's default budget, one row a tenant; `budget` is canonical text, as in a version of an agent."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    budget = models.TextField()

    class Meta:
        verbose_name = verbose_name_plural = "default budget"
        constraints = [models.UniqueConstraint(fields=["tenant"], name="team_budget_once")]

    def __str__(self) -> str:
        return "of every agent that says nothing else"
