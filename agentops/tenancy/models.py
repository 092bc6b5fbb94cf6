"""Who is who: people, tenants, members, service accounts and API keys.

These tables have no row-level security: they are read before a tenant is known. Everything else has it.
"""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now

from agentops.tenancy.accounts import People
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import ROLES


class User(AbstractBaseUser):
    """A person. What they may do comes from their memberships alone."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=100, blank=True)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(db_default=Now(), editable=False)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = People["User"]()

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(email=Lower("email")), name="tenancy_user_email_is_lower"),)

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        """Keeps the address in lower case, however it was typed."""
        self.email = self.email.lower()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keeps the address in lower case, however it was set."""
        self.email = self.email.lower()
        super().save(*args, **kwargs)

    def get_full_name(self) -> str:
        return self.name or self.email

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Django's permissions are not used: roles decide."""
        return False

    def has_module_perms(self, app_label: str) -> bool:
        """Django's permissions are not used: roles decide."""
        return False


class Tenant(models.Model):
    """A team whose runs, tools and approvals no other team sees."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    STATUSES = ((ACTIVE, "Active"), (SUSPENDED, "Suspended"))

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=100)
    status = models.CharField(max_length=20, choices=STATUSES, default=ACTIVE)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(status__in=["active", "suspended"]), name="tenancy_tenant_status_known"),
        )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What one person may do in one tenant. Removing a member deletes the row."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    roles = ArrayField(models.CharField(max_length=20), default=list)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name = "member"
        constraints = (
            models.UniqueConstraint(fields=["tenant", "user"], name="tenancy_membership_once"),
            models.CheckConstraint(condition=Q(roles__contained_by=list(ROLES)), name="tenancy_membership_roles_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.tenant}"


class ServiceAccount(models.Model):
    """A program that acts for a tenant; its owner answers for it and works only while a member."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="service_accounts")
    name = models.CharField(max_length=100)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="service_accounts")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant", "name"], name="tenancy_service_account_name_once"),)

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A secret that a person or a service account signs in with; only its hash is kept.

    `client`: what a person allowed an outside agent (its OAuth client id). Nobody holds the secret of such a key: the
    agent's short-lived tokens point at it, and whatever ends a key ends them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=20, unique=True, editable=False)
    secret_sha256 = models.BinaryField(max_length=32, editable=False)
    scopes = ArrayField(models.CharField(max_length=100), default=list)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="api_keys")
    service_account = models.ForeignKey(
        ServiceAccount, on_delete=models.PROTECT, null=True, blank=True, db_constraint=False, related_name="api_keys"
    )
    client = models.CharField(max_length=255, default="", db_default="", editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "API key"
        constraints = (
            models.CheckConstraint(
                condition=Q(user__isnull=False, service_account__isnull=True)
                | Q(user__isnull=True, service_account__isnull=False),
                name="tenancy_api_key_one_holder",
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=False) | ~Q(scopes__contains=["approvals:decide"]),
                name="tenancy_api_key_people_decide",
            ),
            models.CheckConstraint(
                condition=Q(client="") | (Q(user__isnull=False) & ~Q(scopes__contains=["approvals:decide"])),
                name="tenancy_api_key_agents_never_decide",
            ),
            models.UniqueConstraint(
                fields=["tenant", "user", "client"],
                condition=~Q(client="") & Q(revoked_at=None),
                name="tenancy_api_key_agent_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name or 'key'} ({self.prefix}…)"


class Change(models.Model):
    """One entry of a tenant's append-only, hash-chained log of its configuration. `data` is canonical text."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=300)
    at = models.DateTimeField()
    data = models.TextField()
    hash = models.CharField(max_length=64)
    prev_hash = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant", "seq"], name="tenancy_change_seq_once"),)

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class ChangeHead(models.Model):
    """The end of a tenant's chain of changes: without it a missing tail would not be seen. Its row is the lock."""

    tenant = models.OneToOneField(Tenant, on_delete=models.PROTECT, primary_key=True, related_name="+")
    length = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, default="")

    def __str__(self) -> str:
        return f"{self.length} changes"
