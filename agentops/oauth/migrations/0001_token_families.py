"""Which key each code and token belongs to."""

import uuid

from django.db import migrations, models
from django.db.models.deletion import CASCADE
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True
    dependencies = [("tenancy", "0004_agents")]

    operations = [
        migrations.CreateModel(
            "TokenFamily",
            [
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("key", models.ForeignKey("tenancy.ApiKey", CASCADE, related_name="+")),
                ("code_sha256", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("used_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
