"""A run may stand in a workflow."""

import django.db.models.deletion
from django.db import migrations, models

from agentops.tenancy.rls import tenant_fk


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0009_trace_context'),
        ('tenancy', '0003_names'),
        ('tools', '0002_workflows'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='workflow_at',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='tools.workflowinstance'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('workflow_at', None), _negated=True), fields=['tenant', 'workflow_at'], name='run_at'),
        ),
        tenant_fk("runs_run", "workflow_at_id", "tools_workflowinstance"),
    ]
