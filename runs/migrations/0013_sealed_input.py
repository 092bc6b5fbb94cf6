"""The secrets in what a run is given stand in one sealed column, and as marks everywhere else."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0012_sandbox_level'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='sealed_input',
            field=models.BinaryField(null=True),
        ),
    ]
