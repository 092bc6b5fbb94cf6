"""The demo's workflow: an invoice is handed in, approved and discharged, each by a note in the ledger."""

from typing import Any

NAME = "invoice"
_STEPS = {
    "invoice_submit": ("Hand an invoice in", "write", "Handed in for review.", "draft", "SUBMIT"),
    "invoice_approve": ("Approve an invoice", "write", "Reviewed and approved.", "review", "APPROVE"),
    "invoice_reject": ("Send an invoice back", "write", "Sent back to be corrected.", "review", "REJECT"),
    "invoice_discharge": ("Discharge an invoice", "destructive", "Discharged.", "approved", "DISCHARGE"),
}
TOOLS = tuple(_STEPS)
WORKFLOW: dict[str, Any] = {
    "name": NAME,
    "description": "Nothing is discharged before it was approved: start a run with a handle such as invoice:INV-1001.",
    "machine": {
        "id": NAME,
        "initial": "draft",
        "states": {
            "draft": {"on": {"SUBMIT": "review"}},
            "review": {"on": {"APPROVE": "approved", "REJECT": "draft"}},
            "approved": {"on": {"DISCHARGE": "discharged"}},
            "discharged": {"type": "final"},
        },
    },
    "bindings": [
        {"tool": tool, "states": [state], "transition": event} for tool, (_, _, _, state, event) in _STEPS.items()
    ],
}


def definitions(ledger: str, takes: dict[str, Any]) -> list[dict[str, Any]]:
    """Its tools. `takes`: their input schema, an object with `invoice_id`."""
    return [
        {
            "name": name,
            "title": title,
            "description": f"{title}: writes “{text}” on it and moves its workflow on. Bound to the state {state}.",
            "compact_description": f"{title}.",
            "risk": risk,
            "required_scope": "ledger:write",
            "output_trust": "trusted",
            "input_schema": takes,
            "resource_scope": "invoice:{args.invoice_id}",
            "cost": {"records": 1},
            "idempotency": "header:Idempotency-Key",
            "approval_summary": title + ": {args.invoice_id}",
            "http": {
                "method": "POST",
                "url": ledger + "/notes",
                "body": {"invoice_id": "{args.invoice_id}", "text": text},
                "select": "{id: id, invoice: invoice_id}",
            },
        }
        for name, (title, risk, text, state, _) in _STEPS.items()
    ]
