"""A team's default budget."""

import django.db.models.deletion
from django.db import migrations, models

import agentops.tenancy.ids
from agentops.tenancy.rls import enable_rls


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_checkpoints"), ("tenancy", "0002_changes")]

    operations = [
        migrations.CreateModel(
            name="TeamBudget",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=agentops.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("budget", models.TextField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "default budget",
                "verbose_name_plural": "default budget",
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="team_budget_once")],
            },
        ),
        enable_rls("runs_teambudget"),
    ]
