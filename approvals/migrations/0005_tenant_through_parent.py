"""A request and its decisions are in the tenant of the run: the keys that carry the tenant say so."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


def tenant_of_parent(model: str) -> migrations.AlterField:
    """Without a second key to the tenant itself, whose row every writer would lock."""
    key = models.ForeignKey("tenancy.Tenant", PROTECT, db_constraint=False, db_index=False, related_name="+")
    return migrations.AlterField(model, "tenant", key)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0004_summary_values"), ("tenancy", "0003_names")]

    operations = [tenant_of_parent("approvalrequest"), tenant_of_parent("decision")]
