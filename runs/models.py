"""What a run is made of. Statuses change through `runs.ledger` alone."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from agentops.tenancy.ids import uuid7
from runs.budget_models import TeamBudget
from runs.checkpoint_models import Checkpoint
from runs.domain.run import FINAL, RunStatus
from runs.domain.step import StepStatus
from runs.event_models import Event
from runs.planning_models import ModelRequest
from runs.work_models import StartRecord, WorkItem

__all__ = [
    "Agent", "AgentVersion", "Attempt", "Checkpoint", "Event", "ModelRequest", "Observation", "Proposal", "Run",
    "StartRecord", "Step", "TeamBudget", "WorkItem",
]  # fmt: skip

_FINAL_RUN = models.Q(status__in=sorted(s.value for s in FINAL))
_UNKNOWN_STEP = models.Q(status=StepStatus.UNKNOWN.value)


class Agent(models.Model):
    """A named agent of a tenant; what it is stands in its current version."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=100)
    description = models.TextField(default="", blank=True)
    enabled = models.BooleanField(default=True)
    current = models.ForeignKey(
        "runs.AgentVersion", null=True, on_delete=models.PROTECT, db_constraint=False, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "slug"], name="agent_slug_once")]

    def __str__(self) -> str:
        return self.name


class AgentVersion(models.Model):
    """One immutable version: planner, playbook or model, tools, budgets. JSON stands as canonical text."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_constraint=False, related_name="versions")
    number = models.PositiveIntegerField()
    planner = models.CharField(max_length=10)
    playbook = models.TextField(default="")
    model = models.TextField(default="", db_default="")
    tools = ArrayField(models.CharField(max_length=40))
    budget = models.TextField()
    content_hash = models.CharField(max_length=64)
    created_by = models.CharField(max_length=300, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "agent", "number"], name="agent_version_once")]

    def __str__(self) -> str:
        return f"v{self.number}"


class Run(models.Model):
    """One bounded run. `event_seq` and `head` are the end of its hash chain; `traceparent`: the caller's, if any.

    `input` has marks for secrets; where it has any, `sealed_input` is the raw one.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    agent_version = models.ForeignKey(AgentVersion, on_delete=models.PROTECT, db_constraint=False, related_name="+")
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=100)
    task = models.TextField()
    input = models.TextField()
    sealed_input = models.BinaryField(null=True)
    status = models.CharField(max_length=20)
    terminal_reason = models.CharField(max_length=30, null=True)
    ended_because = models.TextField(default="")
    answer = models.TextField(null=True)
    principal = models.CharField(max_length=60)
    key_id = models.UUIDField(null=True)
    started_by = models.CharField(max_length=254)
    acting_for = models.CharField(max_length=254)
    requesters = ArrayField(models.UUIDField())
    turns = models.PositiveIntegerField(default=0)
    limits = models.TextField()
    used = models.TextField()
    reserved = models.TextField()
    planner_state = models.TextField(default="{}")
    traceparent = models.CharField(max_length=55, default="")
    workflow_at = models.ForeignKey(
        "tools.WorkflowInstance", null=True, on_delete=models.PROTECT, db_constraint=False, db_index=False
    )
    tainted = models.BooleanField(default=False)
    idle_seconds = models.PositiveIntegerField(null=True)
    waited_seconds = models.FloatField(default=0)
    waiting_since = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    cancel_requested_by = models.CharField(max_length=254, default="")
    cancel_reason = models.TextField(default="")
    event_seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, default="")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(_FINAL_RUN & models.Q(finished_at__isnull=False, terminal_reason__isnull=False))
                | (~_FINAL_RUN & models.Q(finished_at=None, terminal_reason=None)),
                name="run_final_iff_finished",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in RunStatus]), name="run_status_known"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="run_newest"),
            models.Index(fields=["tenant", "status", "-created_at", "-id"], name="run_status_newest"),
            models.Index(fields=["tenant", "agent_slug", "-created_at", "-id"], name="run_agent_newest"),
            models.Index(fields=["tenant", "workflow_at"], name="run_at", condition=~models.Q(workflow_at=None)),
        ]

    def __str__(self) -> str:
        return self.task


class Step(models.Model):
    """One proposal of a turn and its life. `token` fences late results of an earlier lease."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, db_constraint=False, related_name="steps")
    turn = models.PositiveIntegerField()
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, default="tool")
    status = models.CharField(max_length=12)
    tool = models.CharField(max_length=40)
    tool_version = models.UUIDField(null=True)
    tool_version_number = models.PositiveIntegerField(null=True)
    risk = models.CharField(max_length=20, default="")
    queue = models.CharField(max_length=20, default="control")
    fingerprint = models.CharField(max_length=64, null=True)
    idempotency_key = models.CharField(max_length=64, null=True)
    digest = models.CharField(max_length=64, null=True)
    refusal = models.TextField(null=True)
    request_id = models.UUIDField(null=True)
    charge_money = models.DecimalField(max_digits=24, decimal_places=8, default=0)
    charge_records = models.BigIntegerField(default=0)
    token = models.PositiveIntegerField(default=0)
    lookups = models.PositiveSmallIntegerField(default=0)
    lookup_at = models.DateTimeField(null=True)
    lease_owner = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "run", "turn", "index"], name="step_place_once"),
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in StepStatus]), name="step_status_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(status=StepStatus.RUNNING.value)
                | models.Q(lease_until__isnull=False, lease_owner__isnull=False),
                name="step_running_has_lease",
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], condition=_UNKNOWN_STEP, name="step_unknown")]

    def __str__(self) -> str:
        return f"{self.tool} ({self.status})"


class Proposal(models.Model):
    """What was proposed, immutable: masked for everybody, sealed for execution alone."""

    step = models.OneToOneField(
        Step, primary_key=True, on_delete=models.PROTECT, db_constraint=False, related_name="proposal"
    )
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    args = models.TextField(null=True)
    sealed = models.BinaryField(null=True)
    resource_scope = models.TextField(default="")
    conditions = models.TextField(default="[]")
    call_id = models.CharField(max_length=200, default="")
    why = models.TextField(default="")
    again = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()


class Attempt(models.Model):
    """One try to execute a step; the outcome is null while it lasts. `sandbox_level`: of a command, once it ended."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    step = models.ForeignKey(Step, on_delete=models.PROTECT, db_constraint=False, related_name="attempts")
    number = models.PositiveIntegerField()
    args_digest = models.CharField(max_length=64)
    sandbox_level = models.PositiveSmallIntegerField(null=True)
    outcome = models.CharField(max_length=20, null=True)
    detail = models.TextField(default="")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "step", "number"], name="attempt_once")]


class Observation(models.Model):
    """What a step brought back: `content` is what the planner reads, `whole` all that was kept."""

    step = models.OneToOneField(
        Step, primary_key=True, on_delete=models.PROTECT, db_constraint=False, related_name="observation"
    )
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    trust = models.CharField(max_length=10)
    content = models.TextField()
    whole = models.TextField()
    truncated = models.BooleanField()
    bytes = models.PositiveIntegerField()
    created_at = models.DateTimeField()
