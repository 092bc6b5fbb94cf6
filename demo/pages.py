"""The ledger's pages: what an accounts clerk sees, and a button that gives an agent work."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agentops.api.errors import NotFound
from agentops.tenancy.ids import uuid7
from agentops.web.member import MemberRequest, member, show
from demo import book
from demo.models import AMOUNT, Invoice, Note
from demo.shapes import InvoiceChange
from runs.operations.starting import start_run
from tools.domain.canonical import canonical, parse

AGENT = "demo"


class InvoiceForm(forms.Form):
    """What a clerk may correct."""

    amount = forms.RegexField(AMOUNT, label=_("Amount"), max_length=20, help_text=_("A decimal, for example 13950.00."))
    status = forms.ChoiceField(label=_("Status"), choices=Invoice.STATUSES)
    account = forms.CharField(label=_("Account"), max_length=200)


@require_safe
@member
def ledger(request: MemberRequest) -> HttpResponse:
    """Invoices, payments and notes."""
    tenant_id = request.actor.tenant_id
    rows = book.invoices(tenant_id)
    unpaid = [row for row in rows if row.status == Invoice.OPEN]
    context = {
        "invoices": rows,
        "next": unpaid[-1] if unpaid else None,
        "once": uuid7(),
        "payments": book.payments(tenant_id),
        "notes": [_shown(note) for note in book.notes(tenant_id)],
    }
    return show(request, "demo/ledger.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member
def invoice_page(request: MemberRequest, number: str) -> HttpResponse:
    """One invoice, and the form that corrects it."""
    tenant_id = request.actor.tenant_id
    row = _invoice(request, number)
    form = InvoiceForm(request.POST or None, initial=_fields(row))
    if request.method == "POST" and form.is_valid():
        book.change_invoice(tenant_id, number, InvoiceChange(**form.cleaned_data))
        messages.success(request, _("The invoice was changed."))
        return redirect("demo-invoice", number)
    context = {
        "invoice": row,
        "form": form,
        "once": uuid7(),
        "payments": book.payments(tenant_id, number),
        "notes": [_shown(note) for note in book.notes(tenant_id, number)],
    }
    return show(request, "demo/invoice.html", context, status=422 if form.errors else 200)


@require_POST
@member
def start(request: MemberRequest) -> HttpResponse:
    """Have the demo agent pay an invoice; pressed twice it is one run."""
    number = _invoice(request, request.POST.get("invoice", "")).number
    once = f"ledger:{number}:{request.POST.get('once', '')[:64]}"
    done = start_run(request.actor, agent=AGENT, task=f"Pay invoice {number}", given={"invoice": number}, key=once)
    return redirect("run", done.run_id)


def _invoice(request: MemberRequest, number: str) -> Invoice:
    try:
        return book.invoice(request.actor.tenant_id, number)
    except NotFound as error:
        raise Http404 from error


def _fields(row: Invoice) -> dict[str, str]:
    return {"amount": row.amount, "status": row.status, "account": row.account}


def _shown(note: Note) -> dict[str, Any]:
    body: Any = parse(note.body)
    meta = canonical(body["meta"])
    return {"row": note, "text": body["text"], "meta": "" if meta == "{}" else meta}
