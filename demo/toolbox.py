"""The demo's tools, which reach the ledger over HTTP with a bearer of their own, and its two agents."""

import re
from typing import Any

from pydantic import SecretStr

from agentops.domain_error import DomainError
from agentops.tenancy.access import authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.transaction import tenant_transaction
from demo import report, workflow
from demo.people import service_key
from runs.operations.configuring import install_agent
from tools.credentials import credential_for, store_credential
from tools.domain.checks import parse_spec
from tools.domain.egress import destination
from tools.domain.spec import ToolSpec
from tools.operations import install_code_tools, install_specs
from tools.workflow_changes import install_workflow

TOOLS = (
    "invoice_read", "supplier_check", "note_add", "payment_create", "slow_read", "csv_total", *workflow.TOOLS,
)  # fmt: skip
BY = "demo"
_INVOICE = {"type": "string", "title": "Invoice", "minLength": 1, "maxLength": 40}

PLAYBOOK: dict[str, Any] = {
    "steps": [
        {
            "tool": "invoice_read",
            "args": {"invoice_id": {"$cel": "input.invoice"}},
            "save_as": "invoice",
            "why": "What is owed, to whom, and whether it is still open.",
        },
        {
            "tool": "supplier_check",
            "args": {"supplier_id": {"$cel": "invoice.supplier_id"}},
            "save_as": "supplier",
            "why": "Whether the office knows the supplier that the invoice names.",
        },
        {
            "tool": "payment_create",
            "args": {
                "invoice_id": {"$cel": "input.invoice"},
                "amount": {"$cel": "invoice.amount"},
                "currency": {"$cel": "invoice.currency"},
                "account": {"$cel": "invoice.account"},
            },
            "save_as": "payment",
            "why": "The task is to pay this invoice; the amount and the account are those on it.",
        },
        {
            "tool": "note_add",
            "args": {
                "invoice_id": {"$cel": "input.invoice"},
                "text": {"$cel": "'Paid ' + invoice.amount + ' ' + invoice.currency + ' to ' + supplier.name + '.'"},
                "meta": {"payment": {"$cel": "payment.id"}},
            },
            "why": "So that the office finds the payment from the invoice.",
        },
    ],
    "answer": "Invoice {input.invoice} is paid: {invoice.amount} {invoice.currency} to {supplier.name}.",
}


def install(carol: Actor, url: str) -> None:
    """The credential for this address, the tools and the agents; again at every start, since the port may change."""
    credential = _credential(carol, url)
    install_code_tools(carol.tenant_id, ["slow_read"], by=BY)
    install_specs(carol.tenant_id, [parse_spec(raw) for raw in _definitions(url, credential)], by=BY)
    install_workflow(carol.tenant_id, workflow.WORKFLOW, by=BY)
    install_agent(
        carol.tenant_id, slug="demo", name="Invoice clerk", planner="playbook", tools=TOOLS, playbook=PLAYBOOK,
        description="Pays an invoice from a playbook; give it {\"invoice\": \"INV-1001\"}.",
        budget={"money": {"amount": "50000", "currency": "EUR"}, "records": 10},
    )  # fmt: skip
    install_agent(
        carol.tenant_id, slug="demo-external", name="Outside agent", planner="external", tools=TOOLS,
        description="The same tools for an agent of yours that calls over MCP or proposes over REST.",
    )  # fmt: skip


def _credential(carol: Actor, url: str) -> str:
    where = str(destination(url))
    name = "demo ledger " + re.sub(r"[^A-Za-z0-9.]+", "-", where).strip("-")
    if not _works(carol, name):
        scopes = ("ledger:read", "ledger:post")
        raw = service_key(carol, "Demo ledger tools", scopes, key_name=name)
        store_credential(carol.tenant_id, name, where, SecretStr(raw), by=BY)
    return name


def _works(carol: Actor, name: str) -> bool:
    try:
        with tenant_transaction(carol.tenant_id):
            bearer = credential_for(carol.tenant_id, _spec_with(name))
        return bearer is not None and authenticate_key(bearer.get_secret_value()).tenant_id == carol.tenant_id
    except DomainError:
        return False


def _spec_with(credential: str) -> ToolSpec:
    return parse_spec(_reads("https://ledger.example")[0] | {"kind": "http", "credential": credential})


def _definitions(url: str, credential: str) -> list[dict[str, Any]]:
    ledger = f"{url}/demo/ledger"
    every = {"kind": "http", "credential": credential}
    gated = workflow.definitions(ledger, _object({"invoice_id": _INVOICE}))
    whole = (*_reads(ledger), _note_add(ledger), _payment_create(ledger), *gated)
    return [*(definition | every for definition in whole), report.DEFINITION]


def _reads(ledger: str) -> list[dict[str, Any]]:
    invoice = {
        "name": "invoice_read",
        "title": "Read an invoice",
        "description": "Read an invoice of the ledger: supplier, amount, currency, account and status.",
        "risk": "read",
        "required_scope": "ledger:read",
        "input_schema": _object({"invoice_id": _INVOICE}),
        "resource_scope": "invoice:{args.invoice_id}",
        "http": {"method": "GET", "url": ledger + "/invoices/{args.invoice_id}"},
    }
    supplier = {
        "name": "supplier_check",
        "title": "Check a supplier",
        "description": "Look a supplier up: name, the account the office knows, and whether it is approved.",
        "risk": "read",
        "required_scope": "ledger:read",
        "output_trust": "trusted",
        "input_schema": _object({"supplier_id": {"type": "string", "title": "Supplier", "minLength": 1}}),
        "resource_scope": "supplier:{args.supplier_id}",
        "http": {"method": "GET", "url": ledger + "/suppliers/{args.supplier_id}"},
    }
    return [invoice, supplier]


def _note_add(ledger: str) -> dict[str, Any]:
    text = {"type": "string", "title": "Text", "minLength": 1, "maxLength": 20_000}
    return {
        "name": "note_add",
        "title": "Add a note",
        "description": "Write a note on an invoice; meta is any JSON object.",
        "risk": "write",
        "required_scope": "ledger:write",
        "output_trust": "trusted",
        "input_schema": _object(
            {"invoice_id": _INVOICE, "text": text, "meta": {"type": "object", "title": "Data"}}, optional=("meta",)
        ),
        "resource_scope": "invoice:{args.invoice_id}",
        "cost": {"records": 1},
        "idempotency": "header:Idempotency-Key",
        "approval_summary": "Write a note on invoice {args.invoice_id}: {args.text}",
        # What it echoes is text of the caller; what the planner needs is that it is there.
        "http": {
            "method": "POST",
            "url": ledger + "/notes",
            "body": "{args}",
            "select": "{id: id, invoice: invoice_id}",
        },
    }


def _payment_create(ledger: str) -> dict[str, Any]:
    fields = {
        "invoice_id": _INVOICE,
        "amount": {"type": "string", "title": "Amount", "pattern": r"^[0-9]{1,15}(\.[0-9]{1,4})?$"},
        "currency": {"type": "string", "title": "Currency", "pattern": "^[A-Z]{3}$"},
        "account": {"type": "string", "title": "Account", "minLength": 1, "maxLength": 200},
    }
    unchanged = {
        "name": "invoice unchanged",
        "probe": {"tool": "invoice_read", "args": {"invoice_id": {"$cel": "args.invoice_id"}}},
        "select": "{status: status, amount: amount, currency: currency, account: account, supplier: supplier_id}",
        "on_change": "ask_again",
    }
    return {
        "name": "payment_create",
        "title": "Pay an invoice",
        "description": "Send money for an invoice. It does not come back.",
        "risk": "destructive",
        "required_scope": "ledger:write",
        "output_trust": "trusted",
        "input_schema": _object(fields),
        "resource_scope": "invoice:{args.invoice_id}",
        "cost": {
            "money": {
                "amount": {"in": "args", "pointer": "/amount"},
                "currency": {"in": "args", "pointer": "/currency"},
            },
            "records": 1,
        },
        "idempotency": "header:Idempotency-Key",
        "preconditions": [unchanged],
        "approval_summary": "Pay {args.amount} {args.currency} to account {args.account} for invoice {args.invoice_id}",
        "http": {"method": "POST", "url": ledger + "/payments", "body": "{args}"},
    }


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
