"""The ledger over REST: the product's keys, tenants and problem documents."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api.answers import Raw, answer
from agentops.api.body import read_model
from agentops.api.errors import InvalidQuery
from agentops.api.query import idempotency_key
from agentops.api.resource import Resource
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from demo import book
from demo.models import Invoice, Note, Payment
from demo.shapes import InvoiceChange, NewNote, NewPayment
from tools.domain.canonical import canonical, parse

CHANGE = "ledger:write"
# Only the tools' own key has it, so that an agent cannot pay beside the gate with the key it starts runs with.
POST = "ledger:post"


class Ledger(Resource):
    """Anybody's key reads its own tenant's books."""

    schema = None

    @property
    def who(self) -> Actor:
        """Who asks."""
        actor: Actor = self.request.user  # type: ignore[assignment]  # the authentication class puts an Actor there
        return actor


class Invoices(Ledger):
    """All invoices."""

    def get(self, request: Request) -> HttpResponse:
        return _list([_invoice(row) for row in book.invoices(self.who.tenant_id)])


class OneInvoice(Ledger):
    """One invoice; people, and programs that may write, change it."""

    def get(self, request: Request, number: str) -> HttpResponse:
        return answer(_invoice(book.invoice(self.who.tenant_id, number)))

    def patch(self, request: Request, number: str) -> HttpResponse:
        if not self.who.is_person:
            require_scope(self.who, CHANGE)
        change = read_model(request, InvoiceChange)
        return answer(_invoice(book.change_invoice(self.who.tenant_id, number, change)))


class OneSupplier(Ledger):
    """One supplier."""

    def get(self, request: Request, number: str) -> HttpResponse:
        row = book.supplier(self.who.tenant_id, number)
        return answer({"id": row.number, "name": row.name, "account": row.account, "approved": row.approved})


class Payments(Ledger):
    """What was paid, and paying."""

    def get(self, request: Request) -> HttpResponse:
        return _list([_payment(row) for row in book.payments(self.who.tenant_id)])

    def post(self, request: Request) -> HttpResponse:
        actor = self.actor(POST)
        key = idempotency_key(request)
        if key is None:
            raise InvalidQuery("Idempotency-Key", "A payment needs this header.")
        made = book.pay(actor, read_model(request, NewPayment), key)
        return answer(_payment(made.row), HTTPStatus.CREATED if made.created else HTTPStatus.OK)


class Notes(Ledger):
    """What was written, and writing."""

    def get(self, request: Request) -> HttpResponse:
        return _list([_note(row) for row in book.notes(self.who.tenant_id)])

    def post(self, request: Request) -> HttpResponse:
        made = book.write_note(self.actor(POST), read_model(request, NewNote), idempotency_key(request))
        return answer(_note(made.row), HTTPStatus.CREATED if made.created else HTTPStatus.OK)


def _list(rows: list[Mapping[str, Any]]) -> HttpResponse:
    return answer({"results": rows})


def _invoice(row: Invoice) -> Mapping[str, Any]:
    return {
        "id": row.number,
        "supplier_id": row.supplier.number,
        "description": row.description,
        "amount": row.amount,
        "currency": row.currency,
        "account": row.account,
        "status": row.status,
        "updated_at": row.updated_at,
    }


def _payment(row: Payment) -> Mapping[str, Any]:
    return {
        "id": row.id,
        "invoice_id": row.invoice.number,
        "amount": row.amount,
        "currency": row.currency,
        "account": row.account,
        "idempotency_key": row.idempotency_key,
        "made_by": row.made_by,
        "created_at": row.created_at,
    }


def _note(row: Note) -> Mapping[str, Any]:
    body: Any = parse(row.body)
    return {
        "id": row.id,
        "invoice_id": row.invoice.number,
        "text": body["text"],
        "meta": Raw(canonical(body["meta"])),
        "idempotency_key": row.idempotency_key,
        "made_by": row.made_by,
        "created_at": row.created_at,
    }
