"""The invoice workflow of the source over tools that remember their calls, for the tests of state gating."""

import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone
from pydantic import BaseModel

from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import PolicyVersion
from runs.domain.planning import ToolProposal
from runs.models import Step
from tests.runs.scenario import Stage
from tools.declare import ToolContext, tool
from tools.domain.canonical import canonical
from tools.domain.outcome import ToolError
from tools.models import WorkflowInstance
from tools.operations import install_code_tools
from tools.workflow_changes import install_workflow


class Invoice(BaseModel):
    """Which one."""

    invoice: str


class Done(BaseModel):
    """How often it was called."""

    calls: int


@dataclass
class Office:
    """What the tools did to one invoice."""

    called: list[str] = field(default_factory=list)
    fault: Exception | None = None
    gate: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)


OFFICES: dict[str, Office] = {}


def _act(name: str, args: Invoice) -> Done:
    office = OFFICES[args.invoice]
    office.entered.set()
    if office.gate is not None:
        office.gate.wait(20)
    if isinstance(office.fault, ToolError):
        raise office.fault
    office.called.append(name)
    if office.fault is not None:
        raise office.fault
    return Done(calls=len(office.called))


def _declare(name: str, risk: str, description: str, compact: str = "") -> None:
    def act(args: Invoice, ctx: ToolContext) -> Done:
        return _act(name, args)

    act.__qualname__ = name
    declare = tool(name=name, description=description, compact_description=compact, risk=risk,  # type: ignore[arg-type]
                   scope="ledger:write", output_trust="trusted")  # fmt: skip
    declare(act)


_declare("invoice_submit", "write", "Hand a draft in for review, whole and for good.", "Hand a draft in.")
_declare("invoice_approve", "write", "Approve a reviewed invoice.")
_declare("invoice_reject", "write", "Send a reviewed invoice back.")
_declare("invoice_discharge", "destructive", "Discharge an approved invoice")
_declare("invoice_note", "write", "Write on the invoice, in any state.", "Write.")

TOOLS = ("invoice_submit", "invoice_approve", "invoice_reject", "invoice_discharge", "invoice_note")
MACHINE: dict[str, Any] = {
    "id": "invoice",
    "initial": "draft",
    "states": {
        "draft": {"on": {"SUBMIT": "review"}},
        "review": {"on": {"APPROVE": "approved", "REJECT": "draft"}},
        "approved": {"on": {"DISCHARGE": "discharged"}},
        "discharged": {"type": "final"},
    },
}
"""As fsm-state-gating prints it."""
BINDINGS: list[dict[str, Any]] = [
    {"tool": "invoice_submit", "states": ["draft"], "transition": "SUBMIT"},
    {"tool": "invoice_approve", "states": ["review"], "transition": "APPROVE"},
    {"tool": "invoice_reject", "states": ["review"], "transition": "REJECT"},
    {"tool": "invoice_discharge", "states": ["approved"], "transition": "DISCHARGE"},
]
INVOICE: dict[str, Any] = {"name": "invoice", "machine": MACHINE, "bindings": BINDINGS}


@dataclass
class Gate:
    """A tenant with the workflow `invoice`, its tools, and an outside agent that has them."""

    stage: Stage
    invoice: str

    @property
    def handle(self) -> str:
        return f"invoice:{self.invoice}"

    @property
    def office(self) -> Office:
        return OFFICES[self.invoice]

    def run(self, *, by: Actor | None = None, handle: str | None = None) -> UUID:
        """A run that stands at the invoice's handle."""
        actor = by or self.stage.cast.service.actor
        return self.stage.start("gated", by=actor, workflow=("invoice", handle or self.handle))

    def proposal(self, name: str) -> ToolProposal:
        """One call of a tool on the invoice."""
        return ToolProposal(name, {"invoice": self.invoice})

    def call(self, run_id: UUID, name: str) -> Step:
        """Propose one call of a tool and let a worker take the run as far as it goes."""
        (step,) = self.stage.propose(run_id, self.proposal(name))
        self.stage.work(run_id)
        return next(s for s in self.stage.steps(run_id) if s.id == step.id)

    def approved(self, run_id: UUID, name: str) -> Step:
        """The same, and bob approves."""
        step = self.call(run_id, name)
        self.stage.approve(run_id)
        self.stage.work(run_id)
        return next(s for s in self.stage.steps(run_id) if s.id == step.id)

    def at(self, state: str) -> UUID:
        """A run whose handle was brought to this state by calls."""
        run_id = self.run()
        way = {"draft": [], "review": ["invoice_submit"], "approved": ["invoice_submit", "invoice_approve"]}[state]
        for name in way:
            assert self.call(run_id, name).status == "succeeded"
        return run_id

    def where(self, handle: str | None = None) -> tuple[str, int]:
        """The handle's state and revision."""
        row = self.row(handle)
        return row.state, row.revision

    def row(self, handle: str | None = None) -> WorkflowInstance:
        with tenant_transaction(self.stage.tenant_id):
            return WorkflowInstance.objects.get(handle=handle or self.handle)


def new_gate(stage: Stage) -> Gate:
    """A gate of its own; untainted writes are allowed, destructive calls ask."""
    install_code_tools(stage.tenant_id, TOOLS)
    install_workflow(stage.tenant_id, INVOICE)
    with tenant_transaction(stage.tenant_id):
        PolicyVersion.objects.create(
            tenant_id=stage.tenant_id, number=1, preset="strict", rules=canonical([]), created_at=timezone.now()
        )
    stage.external("gated", tools=TOOLS)
    invoice = f"INV-{uuid7().hex[-12:]}"
    OFFICES[invoice] = Office()
    return Gate(stage, invoice)
