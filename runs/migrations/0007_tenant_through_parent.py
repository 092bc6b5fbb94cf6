"""A row of a run is in the tenant of its parent: the keys that carry the tenant say so, in one check a row."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


def tenant_of_parent(model: str) -> migrations.AlterField:
    """Without a second key to the tenant itself, whose row every writer would lock."""
    key = models.ForeignKey("tenancy.Tenant", PROTECT, db_constraint=False, db_index=False, related_name="+")
    return migrations.AlterField(model, "tenant", key)


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_team_budget"), ("tenancy", "0003_names")]

    operations = [
        *map(tenant_of_parent, ("attempt", "event", "observation", "proposal", "run", "startrecord", "step")),
        migrations.AlterField(
            "event",
            "run",
            models.ForeignKey("runs.Run", PROTECT, db_constraint=False, db_index=False, related_name="events"),
        ),
    ]
