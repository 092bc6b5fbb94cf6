"""A pulse may carry what its worker says of itself."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('embedded', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='pulse',
            name='said',
            field=models.TextField(db_default='', default=''),
        ),
    ]
