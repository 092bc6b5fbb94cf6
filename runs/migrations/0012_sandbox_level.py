"""An attempt keeps the level of the sandbox that its command ran in."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0011_model_planner'),
    ]

    operations = [
        migrations.AddField(
            model_name='attempt',
            name='sandbox_level',
            field=models.PositiveSmallIntegerField(null=True),
        ),
    ]
