"""Agents that a language model plans for: what the version says of it, and every request that was made."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT

import agentops.tenancy.ids
from agentops.tenancy.rls import enable_rls, tenant_fk

ENDED = models.Q(
    outcome__in=["answered", "unusable", "failed", "lost", "abandoned"], finished_at__isnull=False
)


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_workflows"), ("tenancy", "0003_names")]

    operations = [
        migrations.AddField("agentversion", "model", models.TextField(db_default="", default="")),
        migrations.CreateModel(
            name="ModelRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=agentops.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("turn", models.PositiveIntegerField()),
                ("provider", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("outcome", models.CharField(max_length=10, null=True)),
                ("detail", models.TextField(default="")),
                ("prompt", models.TextField()),
                ("answer", models.TextField(default="")),
                ("sealed", models.BinaryField(null=True)),
                ("reserved_tokens", models.BigIntegerField()),
                ("reserved_money", models.DecimalField(decimal_places=12, max_digits=24)),
                ("input_tokens", models.BigIntegerField(default=0)),
                ("output_tokens", models.BigIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=12, max_digits=24, null=True)),
                ("currency", models.CharField(default="", max_length=3)),
                ("lease_owner", models.UUIDField()),
                ("lease_until", models.DateTimeField()),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        "runs.Run", PROTECT, db_constraint=False, db_index=False, related_name="model_calls"
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey("tenancy.Tenant", PROTECT, db_constraint=False, db_index=False, related_name="+"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "run", "number"), name="model_call_once"),
                    models.UniqueConstraint(
                        condition=models.Q(outcome=None), fields=("tenant", "run"), name="model_call_one_at_a_time"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(finished_at=None, outcome=None) | ENDED,
                        name="model_call_ended_iff_finished",
                    ),
                ],
            },
        ),
        tenant_fk("runs_modelrequest", "run_id", "runs_run"),
        enable_rls("runs_modelrequest"),
    ]
