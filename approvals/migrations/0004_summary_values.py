"""Where the inserted values stand in a request's sentence, so that lists can set them apart from its words."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0003_reconcile_quorum")]

    operations = [
        migrations.AddField("approvalrequest", "summary_values", ArrayField(models.PositiveIntegerField(), default=list)),
    ]
