"""What people call members and keys."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0002_changes")]

    operations = [
        migrations.AlterModelOptions(name="membership", options={"verbose_name": "member"}),
        migrations.AlterModelOptions(name="apikey", options={"verbose_name": "API key"}),
    ]
