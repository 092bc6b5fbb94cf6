"""Keys that stand for an outside agent which a person let in."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0003_names")]

    operations = [
        migrations.AddField(
            "apikey", "client", models.CharField(default="", db_default="", editable=False, max_length=255)
        ),
        migrations.AddConstraint(
            "apikey",
            models.CheckConstraint(
                condition=Q(client="") | (Q(user__isnull=False) & ~Q(scopes__contains=["approvals:decide"])),
                name="tenancy_api_key_agents_never_decide",
            ),
        ),
        migrations.AddConstraint(
            "apikey",
            models.UniqueConstraint(
                fields=["tenant", "user", "client"],
                condition=~Q(client="") & Q(revoked_at=None),
                name="tenancy_api_key_agent_once",
            ),
        ),
    ]
