"""A tool that a workflow binds is known as such in its own row, which every call reads."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0002_workflows")]

    operations = [migrations.AddField("tool", "gated", models.BooleanField(default=False))]
