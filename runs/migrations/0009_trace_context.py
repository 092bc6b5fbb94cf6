"""The caller's trace context of a run, and a small index by which the figures find what is new."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0008_idle_runs")]

    operations = [
        migrations.AddField("run", "traceparent", models.CharField(max_length=55, default="")),
        migrations.AddIndex("event", BrinIndex(fields=["at"], name="event_at", autosummarize=True)),
    ]
