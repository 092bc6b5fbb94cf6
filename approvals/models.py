"""Requests for a person's decision, the decisions, and the policy versions that asked."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from agentops.tenancy.ids import uuid7
from approvals.domain.decision import RequestStatus, Then, Verdict

_PENDING = models.Q(status=RequestStatus.PENDING.value)


class PolicyVersion(models.Model):
    """One immutable version of a tenant's policy; the highest number is in force."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("tenancy.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    number = models.PositiveIntegerField()
    preset = models.CharField(max_length=20)
    rules = models.TextField(default="[]", help_text="A JSON list of rules: name, when (CEL), effect, reason.")
    reconcile_quorum = models.PositiveSmallIntegerField(
        default=1, help_text="How many people must agree on what a destructive call of unknown outcome did: 1 or 2."
    )
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="policy_number_once"),
            models.CheckConstraint(condition=models.Q(reconcile_quorum__in=[1, 2]), name="reconcile_quorum_one_or_two"),
        ]

    def __str__(self) -> str:
        return f"policy v{self.number}"


class ApprovalRequest(models.Model):
    """One question to people about one held step. `snapshot` is canonical text and never changes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    run_id = models.UUIDField()
    step_id = models.UUIDField()
    tool = models.CharField(max_length=40)
    risk = models.CharField(max_length=20)
    agent = models.CharField(max_length=100)
    acting_for = models.CharField(max_length=254)
    summary = models.TextField()
    summary_values = ArrayField(models.PositiveIntegerField(), default=list)
    reasons = ArrayField(models.TextField())
    tainted = models.BooleanField(default=False)
    snapshot = models.TextField()
    digest = models.CharField(max_length=64)
    requesters = ArrayField(models.UUIDField())
    quorum = models.PositiveSmallIntegerField()
    group = models.CharField(max_length=100, null=True)
    policy_version = models.PositiveIntegerField()
    checks = models.TextField(default="[]")
    checked_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=12, default=RequestStatus.PENDING.value)
    version = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    superseded_by = models.UUIDField(null=True)
    supersedes = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "step_id"], condition=_PENDING, name="one_pending_request_a_step"
            ),
            models.CheckConstraint(condition=models.Q(quorum__gte=1), name="quorum_at_least_one"),
            models.CheckConstraint(
                condition=(_PENDING & models.Q(decided_at=None)) | (~_PENDING & models.Q(decided_at__isnull=False)),
                name="request_decided_iff_not_pending",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in RequestStatus]), name="request_status_known"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "opened_at", "id"], condition=_PENDING, name="request_pending"),
            models.Index(fields=["tenant", "-decided_at", "-id"], condition=~_PENDING, name="request_decided"),
            models.Index(fields=["tenant", "run_id"], name="request_run"),
            models.Index(fields=["tenant", "step_id", "opened_at"], name="request_step"),
        ]

    def __str__(self) -> str:
        return self.summary


class Decision(models.Model):
    """What one person said about one request; never changed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(
        "tenancy.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, db_constraint=False, related_name="decisions"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=254)
    verdict = models.CharField(max_length=10)
    then = models.CharField(max_length=10, null=True)
    reason = models.TextField(default="")
    digest = models.CharField(max_length=64)
    door = models.CharField(max_length=20)
    proof = models.TextField(default="{}", help_text="What the door saw the person do: typed target, opened folds.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "request", "user"], name="one_decision_a_person_and_request"),
            models.CheckConstraint(
                condition=models.Q(verdict__in=[v.value for v in Verdict]), name="decision_verdict_known"
            ),
            models.CheckConstraint(
                condition=models.Q(then=None) | models.Q(then__in=[t.value for t in Then]), name="decision_then_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.verdict}"
