"""A small accounts office outside the engine: invoices, suppliers, payments and notes of each tenant."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agentops.tenancy.ids import uuid7
from agentops.tenancy.models import Tenant

AMOUNT = r"^[0-9]{1,15}(\.[0-9]{1,4})?$"


class Supplier(models.Model):
    """Whom the office buys from, and the account that it knows of them."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    number = models.CharField(max_length=40)
    name = models.CharField(max_length=100)
    account = models.CharField(max_length=200)
    approved = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["tenant", "number"], name="demo_supplier_once")]

    def __str__(self) -> str:
        return self.number


class Invoice(models.Model):
    """What is owed. An amount is the text of a decimal, exactly as it was written."""

    OPEN, ON_HOLD, PAID, CANCELLED = "open", "on_hold", "paid", "cancelled"
    STATUSES: ClassVar = [(OPEN, "open"), (ON_HOLD, "on hold"), (PAID, "paid"), (CANCELLED, "cancelled")]

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    number = models.CharField(max_length=40)
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, db_constraint=False, related_name="+")
    description = models.CharField(max_length=200)
    amount = models.CharField(max_length=20)
    currency = models.CharField(max_length=3)
    account = models.CharField(max_length=200)
    status = models.CharField(max_length=10, choices=STATUSES, default=OPEN)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "number"], name="demo_invoice_once"),
            models.CheckConstraint(condition=Q(amount__regex=AMOUNT), name="demo_invoice_amount_decimal"),
            models.CheckConstraint(
                condition=Q(status__in=["open", "on_hold", "paid", "cancelled"]), name="demo_invoice_status_known"
            ),
        ]

    def __str__(self) -> str:
        return self.number


class Payment(models.Model):
    """Money that left, once for one idempotency key."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, db_constraint=False, related_name="payments")
    amount = models.CharField(max_length=20)
    currency = models.CharField(max_length=3)
    account = models.CharField(max_length=200)
    idempotency_key = models.CharField(max_length=255)
    made_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "idempotency_key"], name="demo_payment_key_once"),
            models.CheckConstraint(condition=Q(amount__regex=AMOUNT), name="demo_payment_amount_decimal"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


class Note(models.Model):
    """A remark on an invoice. `body` is the canonical text of {text, meta}, which may hold any JSON."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False, related_name="+")
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, db_constraint=False, related_name="notes")
    body = models.TextField()
    idempotency_key = models.CharField(max_length=255, null=True)
    made_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "idempotency_key"], name="demo_note_key_once"),
        ]

    def __str__(self) -> str:
        return self.body
