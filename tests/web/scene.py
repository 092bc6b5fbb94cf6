"""A small accounts office of real tools in code, and runs of it taken as far as they go by the real engine."""

import itertools
import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pydantic import BaseModel, Field

from agentops.tenancy.transaction import tenant_transaction
from runs import execution
from runs.models import Agent, AgentVersion
from runs.operations.configuring import install_agent
from runs.operations.starting import start_run
from tests.cast import Cast
from tools.declare import ToolContext, tool
from tools.domain.canonical import canonical
from tools.domain.outcome import ToolError
from tools.operations import install_code_tools

INVOICES: dict[str, str] = {}
PAID: list[str] = []
HELD: dict[str, threading.Event] = {}
_SERIAL = itertools.count(1)


class Asked(BaseModel):
    """Which invoice."""

    invoice_id: str = Field(title="Invoice")


class Invoice(BaseModel):
    """What is owed."""

    amount: str
    status: str


class Payment(BaseModel):
    """What to pay, to whom."""

    invoice_id: str = Field(title="Invoice")
    amount: str = Field(title="Amount")
    account: str = Field(title="Account")
    meta: dict[str, Any] = Field(default_factory=dict, title="Notes")


class Paid(BaseModel):
    """The receipt."""

    payment: int


@tool(
    name="scene_invoice",
    title="Read an invoice",
    description="Reads an invoice from the office's book.",
    risk="read",
    scope="ledger:read",
    volatile=True,
)
def scene_invoice(args: Asked, ctx: ToolContext) -> Invoice:
    """The invoice, whose amount a test may change meanwhile."""
    return Invoice(amount=INVOICES.get(args.invoice_id, "12400.00"), status="approved")


@tool(
    name="scene_pay",
    title="Pay an invoice",
    description="Sends money. It does not come back.",
    risk="destructive",
    scope="ledger:write",
    resource_scope="invoice:{args.invoice_id}",
    approval_summary="Pay {args.amount} to {args.account} for {args.invoice_id}",
    preconditions=[
        {
            "name": "Invoice amount",
            "probe": {"tool": "scene_invoice", "args": {"invoice_id": {"$cel": "args.invoice_id"}}},
            "select": "amount",
        }
    ],
    cost={"money": {"amount": {"in": "args", "pointer": "/amount"}, "currency": "EUR"}, "records": 1},
)
def scene_pay(args: Payment, ctx: ToolContext) -> Paid:
    """Pays once a key, as a bank would; an account named closed is refused, one named lost never answers."""
    if args.account in HELD:
        HELD[args.account].wait(60)
    if args.account == "lost":
        raise ConnectionResetError
    if args.account == "closed":
        raise ToolError("account_closed", "The account is closed.", retryable=False, hint="Ask for another account.")
    PAID.append(ctx.idempotency_key)
    return Paid(payment=len(PAID))


@dataclass
class Scene:
    """An office of its own tenant, and what one does there."""

    cast: Cast
    agents: list[str] = field(default_factory=list)

    def run(self, account: str = "DE02 1203 0000 0000 2020 51", **meta: Any) -> UUID:
        """A run that alice starts: it reads an invoice and wants to pay it. Taken as far as it goes."""
        invoice = f"INV-{next(_SERIAL):04}"
        given: Any = {"invoice": invoice, "account": account, "meta": meta}
        started = start_run(self.cast.alice.actor, agent="office", task=f"Pay invoice {invoice}", given=given)
        self.work(started.run_id)
        return started.run_id

    def think(self, address: str) -> UUID:
        """A run that the model at this address plans for, taken as far as it goes."""
        model = {"provider": "compatible", "name": "stub", "base_url": address, "instructions": "Pay what is due."}
        tools = ["scene_invoice", "scene_pay"]
        install_agent(self.cast.tenant.id, slug="thinker", name="Clerk", planner="model", tools=tools, model=model)
        run_id = start_run(self.cast.alice.actor, agent="thinker", task="Look at INV-1").run_id
        self.work(run_id)
        return run_id

    def work(self, run_id: UUID) -> None:
        """What a worker does when it is nudged."""
        execution.work("control", run_id)


def build(cast: Cast) -> Scene:
    """The tools and the agent of the scene, in the cast's tenant."""
    tenant_id = cast.tenant.id
    install_code_tools(tenant_id, ["scene_invoice", "scene_pay"])
    playbook = {
        "steps": [
            {"tool": "scene_invoice", "args": {"invoice_id": {"$cel": "input.invoice"}}, "save_as": "invoice"},
            {
                "tool": "scene_pay",
                "args": {
                    "invoice_id": {"$cel": "input.invoice"},
                    "amount": {"$cel": "invoice.amount"},
                    "account": {"$cel": "input.account"},
                    "meta": {"$cel": "input.meta"},
                },
                "why": "The invoice is due and the supplier is known.",
            },
        ],
        "answer": "Paid {input.invoice}.",
    }
    limits = {
        "steps": 12,
        "tool_calls": 10,
        "seconds": 7200,
        "money": {"amount": "20000.00", "currency": "EUR"},
        "records": 10,
    }
    now = timezone.now()
    with tenant_transaction(tenant_id):
        agent = Agent.objects.create(tenant_id=tenant_id, slug="office", name="Payables agent", created_at=now)
        agent.current = AgentVersion.objects.create(
            tenant_id=tenant_id,
            agent=agent,
            number=1,
            planner="playbook",
            playbook=canonical(playbook),
            tools=["scene_invoice", "scene_pay"],
            budget=canonical(limits),
            content_hash="0" * 64,
            created_at=now,
        )
        agent.save()
    return Scene(cast)


@pytest.fixture
def scene(cast: Cast) -> Scene:
    """The office of this test."""
    return build(cast)
