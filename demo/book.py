"""What can be done in the ledger: read, change an invoice, pay it once for one key, write a note."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Now

from agentops.api.errors import NotFound
from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from demo.models import Invoice, Note, Payment, Supplier
from demo.shapes import InvoiceChange, NewNote, NewPayment
from runs.domain.errors import IdempotencyMismatch
from tools.domain.canonical import canonical

MOST = 1000


@dataclass(frozen=True)
class Made[RowT]:
    """`created` is false when the same request was made before."""

    row: RowT
    created: bool


def invoices(tenant_id: UUID) -> Sequence[Invoice]:
    """Every invoice by number."""
    with tenant_transaction(tenant_id):
        return list(Invoice.objects.filter(tenant_id=tenant_id).select_related("supplier").order_by("number")[:MOST])


def invoice(tenant_id: UUID, number: str) -> Invoice:
    """One invoice. Raises NotFound."""
    with tenant_transaction(tenant_id):
        row = Invoice.objects.filter(tenant_id=tenant_id, number=_text(number)).select_related("supplier").first()
    if row is None:
        raise NotFound(f"There is no invoice {number}.")
    return row


def supplier(tenant_id: UUID, number: str) -> Supplier:
    """One supplier. Raises NotFound."""
    with tenant_transaction(tenant_id):
        row = Supplier.objects.filter(tenant_id=tenant_id, number=_text(number)).first()
    if row is None:
        raise NotFound(f"There is no supplier {number}.")
    return row


def payments(tenant_id: UUID, number: str = "") -> Sequence[Payment]:
    """The latest payments first, of one invoice or of all."""
    with tenant_transaction(tenant_id):
        rows = Payment.objects.filter(tenant_id=tenant_id).select_related("invoice").order_by("-created_at", "-id")
        return list((rows.filter(invoice__number=_text(number)) if number else rows)[:MOST])


def notes(tenant_id: UUID, number: str = "") -> Sequence[Note]:
    """The latest notes first, of one invoice or of all."""
    with tenant_transaction(tenant_id):
        rows = Note.objects.filter(tenant_id=tenant_id).select_related("invoice").order_by("-created_at", "-id")
        return list((rows.filter(invoice__number=_text(number)) if number else rows)[:MOST])


def change_invoice(tenant_id: UUID, number: str, change: InvoiceChange) -> Invoice:
    """The invoice with these fields changed. Raises NotFound."""
    changed = change.model_dump(exclude_none=True)
    with tenant_transaction(tenant_id):
        row = _locked(tenant_id, number)
        Invoice.objects.filter(pk=row.pk).update(**changed, updated_at=Now())
    return invoice(tenant_id, number)


def pay(actor: Actor, asked: NewPayment, key: str) -> Made[Payment]:
    """Pay, and set the invoice paid; the same key is the same payment. Raises NotFound, IdempotencyMismatch."""
    fields = {"amount": asked.amount, "currency": asked.currency, "account": asked.account}
    with tenant_transaction(actor.tenant_id):
        row = _locked(actor.tenant_id, asked.invoice_id)
        found, created = Payment.objects.select_related("invoice").get_or_create(
            tenant_id=actor.tenant_id,
            idempotency_key=key,
            defaults={**fields, "invoice": row, "made_by": actor.label, "created_at": Now()},
        )
        if created:
            Invoice.objects.filter(pk=row.pk).update(status=Invoice.PAID, updated_at=Now())
            found.refresh_from_db(fields=["created_at"])
        elif found.invoice_id != row.id or any(getattr(found, name) != value for name, value in fields.items()):
            raise IdempotencyMismatch
    return Made(found, created)


def write_note(actor: Actor, asked: NewNote, key: str | None) -> Made[Note]:
    """Write a note; the same key is the same note. Raises NotFound, IdempotencyMismatch."""
    body = canonical({"text": asked.text, "meta": asked.meta})
    with tenant_transaction(actor.tenant_id):
        row = _locked(actor.tenant_id, asked.invoice_id)
        fields = {"invoice": row, "body": body, "made_by": actor.label, "created_at": Now()}
        if key is None:
            found, created = Note.objects.create(tenant_id=actor.tenant_id, **fields), True
        else:
            found, created = Note.objects.select_related("invoice").get_or_create(
                tenant_id=actor.tenant_id, idempotency_key=key, defaults=fields
            )
        if created:
            found.refresh_from_db(fields=["created_at"])
        elif found.invoice_id != row.id or found.body != body:
            raise IdempotencyMismatch
    return Made(found, created)


def _locked(tenant_id: UUID, number: str) -> Invoice:
    row = Invoice.objects.select_for_update().filter(tenant_id=tenant_id, number=_text(number)).first()
    if row is None:
        raise NotFound(f"There is no invoice {number}.")
    return row


def _text(number: str) -> str:
    # The database refuses U+0000, and no number has it.
    return "" if "\0" in number else number
