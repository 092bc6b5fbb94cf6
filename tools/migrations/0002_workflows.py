"""Workflows, their versions, and where their handles stand."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import agentops.tenancy.ids
from agentops.tenancy.rls import append_only, enable_rls, tenant_fk, tenant_key


class Migration(migrations.Migration):

    dependencies = [
        ('tenancy', '0003_names'),
        ('tools', '0001_tools'),
    ]

    operations = [
        migrations.CreateModel(
            name='Workflow',
            fields=[
                ('id', models.UUIDField(default=agentops.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=40)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenancy.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='WorkflowVersion',
            fields=[
                ('id', models.UUIDField(default=agentops.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('content_hash', models.CharField(max_length=64)),
                ('spec', models.TextField()),
                ('created_by', models.CharField(max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenancy.tenant')),
                ('workflow', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='tools.workflow')),
            ],
        ),
        migrations.AddField(
            model_name='workflow',
            name='current',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tools.workflowversion'),
        ),
        migrations.CreateModel(
            name='WorkflowInstance',
            fields=[
                ('id', models.UUIDField(default=agentops.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('handle', models.CharField(max_length=200)),
                ('state', models.TextField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('taken_by', models.UUIDField(null=True)),
                ('taken_event', models.CharField(default='', max_length=80)),
                ('taken_to', models.TextField(default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenancy.tenant')),
                ('workflow', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='instances', to='tools.workflow')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'workflow', 'handle'), name='tools_workflowinstance_handle_once'), models.CheckConstraint(condition=models.Q(models.Q(('taken_by', None), ('taken_to', '')), models.Q(('taken_by__isnull', False), models.Q(('taken_to', ''), _negated=True)), _connector='OR'), name='tools_workflowinstance_taken_whole')],
            },
        ),
        migrations.AddConstraint(
            model_name='workflowversion',
            constraint=models.UniqueConstraint(fields=('tenant', 'workflow', 'number'), name='tools_workflowversion_number_once'),
        ),
        migrations.AddConstraint(
            model_name='workflowversion',
            constraint=models.UniqueConstraint(fields=('tenant', 'workflow', 'content_hash'), name='tools_workflowversion_content_once'),
        ),
        migrations.AddConstraint(
            model_name='workflow',
            constraint=models.UniqueConstraint(fields=('tenant', 'name'), name='tools_workflow_name_once'),
        ),
        tenant_key("tools_workflow"),
        tenant_key("tools_workflowversion"),
        tenant_key("tools_workflowinstance"),
        tenant_fk("tools_workflowversion", "workflow_id", "tools_workflow"),
        tenant_fk("tools_workflowinstance", "workflow_id", "tools_workflow"),
        tenant_fk("tools_workflow", "current_id", "tools_workflowversion", deferred=True),
        enable_rls("tools_workflow"),
        enable_rls("tools_workflowversion"),
        enable_rls("tools_workflowinstance"),
        append_only("tools_workflowversion"),
    ]
