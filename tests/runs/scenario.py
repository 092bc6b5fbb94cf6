"""The shortest legal ways to runs in each state, with tools that really do something and remember it."""

import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.models import ApprovalRequest
from runs import execution, probing
from runs.models import Event, Run, Step
from runs.operations import advancing
from runs.operations.advancing import Execute, Probe
from runs.operations.claiming import Claimed
from runs.operations.configuring import install_agent
from runs.operations.deciding import Decided, decide
from runs.operations.starting import start_run
from tests.cast import Cast
from tools.declare import ToolContext, tool
from tools.domain.outcome import ToolError
from tools.operations import install_code_tools


class Nothing(BaseModel):
    """No arguments."""


class Account(BaseModel):
    """One account of the test's own world."""

    account: str


class Transfer(BaseModel):
    """A payment."""

    account: str
    amount: str


class Note(BaseModel):
    """A note with anything in it."""

    text: str
    meta: dict[str, Any] = {}


class Told(BaseModel):
    """What a test tool says."""

    account: str = ""
    status: str = ""
    amount: str = ""
    done: int = 0


@dataclass
class World:
    """What the tools of one test read and change."""

    status: str = "open"
    amount: str = "12400.00"
    paid: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    reads: int = 0
    fail_next: ToolError | None = None
    gate: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)


WORLDS: dict[str, World] = {}


def _world(account: str) -> World:
    return WORLDS[account]


@tool(name="t_read", description="Reads an account.", risk="read", scope="ledger:read", output_trust="trusted")
def t_read(args: Account, ctx: ToolContext) -> Told:
    world = _world(args.account)
    world.reads += 1
    world.entered.set()
    if world.gate is not None:
        while not world.gate.wait(0.02):
            if ctx.cancelled.is_set():
                raise ToolError("cancelled", "The read was cancelled.")
    return Told(account=args.account, status=world.status, amount=world.amount)


@tool(name="t_pay", description="Pays.", risk="destructive", scope="ledger:write", output_trust="trusted",
      idempotency="none", resource_scope="account:{args.account}",
      approval_summary="Pay {args.amount} to {args.account}",
      preconditions=[{"name": "account unchanged",
                      "probe": {"tool": "t_read", "args": {"account": {"$cel": "args.account"}}},
                      "select": "[status, amount]"}])  # fmt: skip
def t_pay(args: Transfer, ctx: ToolContext) -> Told:
    return _pay(args, ctx)


@tool(name="t_pay_plain", description="Pays without conditions.", risk="destructive", scope="ledger:write",
      output_trust="trusted", approval_summary="Pay {args.amount} to {args.account}")  # fmt: skip
def t_pay_plain(args: Transfer, ctx: ToolContext) -> Told:
    return _pay(args, ctx)


@tool(
    name="t_pay_priced",
    description="Pays, and says what it costs.",
    risk="destructive",
    scope="ledger:write",
    output_trust="trusted",
    cost={"money": {"amount": {"in": "args", "pointer": "/amount"}, "currency": "EUR"}, "records": 1},
)
def t_pay_priced(args: Transfer, ctx: ToolContext) -> Told:
    return _pay(args, ctx)


@tool(name="t_note", description="Adds a note.", risk="write", scope="ledger:write", output_trust="trusted")
def t_note(args: Note, ctx: ToolContext) -> Told:
    WORLDS.setdefault("notes", World()).notes.append(args.model_dump())
    return Told(done=1)


@tool(name="t_page", description="Reads an untrusted page.", risk="read", scope="ledger:read")
def t_page(args: Account, ctx: ToolContext) -> Told:
    return Told(account=args.account, status="<script>alert(1)</script>")


def _pay(args: Transfer, ctx: ToolContext) -> Told:
    world = _world(args.account)
    world.entered.set()
    if world.gate is not None:
        while not world.gate.wait(0.02):
            if ctx.cancelled.is_set():
                break
    if world.fail_next is not None:
        fault, world.fail_next = world.fail_next, None
        raise fault
    world.paid.append((args.account, args.amount, ctx.idempotency_key))
    return Told(account=args.account, done=len(world.paid))


TOOLS = ("t_read", "t_pay", "t_pay_plain", "t_pay_priced", "t_note", "t_page")


@dataclass
class Stage:
    """A tenant with the test tools, one account of its own, and an agent of each kind."""

    cast: Cast
    account: str
    world: World

    @property
    def tenant_id(self) -> UUID:
        return self.cast.tenant.id

    def agent(self, slug: str, steps: list[dict[str, Any]], *, budget: Any = None, answer: str = "Done.") -> str:
        """A playbook agent."""
        playbook = {"steps": steps, "answer": answer}
        install_agent(self.tenant_id, slug=slug, name=slug, planner="playbook", tools=TOOLS, playbook=playbook,
                      budget=budget)  # fmt: skip
        return slug

    def external(self, slug: str = "outside", *, budget: Any = None) -> str:
        """An agent that somebody else plans for."""
        install_agent(self.tenant_id, slug=slug, name=slug, planner="external", tools=TOOLS, budget=budget)
        return slug

    def start(self, slug: str, *, by: Actor | None = None, **kwargs: Any) -> UUID:
        """Start a run as alice, or as `by`."""
        return start_run(by or self.cast.alice.actor, agent=slug, task="Pay", **kwargs).run_id

    def run(self, run_id: UUID) -> Run:
        with tenant_transaction(self.tenant_id):
            return Run.objects.get(id=run_id)

    def steps(self, run_id: UUID) -> list[Step]:
        with tenant_transaction(self.tenant_id):
            return list(Step.objects.filter(run_id=run_id).order_by("turn", "index"))

    def statuses(self, run_id: UUID) -> list[str]:
        return [s.status for s in self.steps(run_id)]

    def events(self, run_id: UUID) -> list[Event]:
        with tenant_transaction(self.tenant_id):
            return list(Event.objects.filter(run_id=run_id).order_by("seq"))

    def kinds(self, run_id: UUID) -> list[str]:
        return [e.kind for e in self.events(run_id)]

    def requests(self, run_id: UUID) -> list[ApprovalRequest]:
        with tenant_transaction(self.tenant_id):
            return list(ApprovalRequest.objects.filter(run_id=run_id).order_by("opened_at"))

    def pending(self, run_id: UUID) -> ApprovalRequest:
        return next(r for r in self.requests(run_id) if r.status == "pending")

    def approve(self, run_id: UUID, by: Actor | None = None) -> Decided:
        """Approve what the run waits for, as bob."""
        request = self.pending(run_id)
        return decide(by or self.cast.bob.actor, request.id, verdict=Verdict.APPROVE, digest=request.digest)

    def reject(self, run_id: UUID, *, reason: str = "no", then: Then = Then.REPLAN) -> Decided:
        request = self.pending(run_id)
        actor = self.cast.bob.actor
        return decide(actor, request.id, verdict=Verdict.REJECT, digest=request.digest, reason=reason, then=then)

    def work(self, run_id: UUID) -> None:
        """Let a worker take this run as far as it goes."""
        execution.work("control", run_id)

    def claim_only(self, run_id: UUID) -> Claimed:
        """Take the run to the point where its next call would be made, as a worker that then dies."""
        owner = uuid7()
        found = advancing.begin("control", run_id, owner)
        while isinstance(found, Probe):
            found = advancing.resume(self.tenant_id, run_id, owner, readings=probing.read(found.wanted))
        assert isinstance(found, Execute), found
        return found.call


def new_stage(cast: Cast) -> Stage:
    """A stage of its own."""
    install_code_tools(cast.tenant.id, TOOLS)
    account = f"acc-{uuid7().hex[-12:]}"
    WORLDS[account] = World()
    return Stage(cast, account, WORLDS[account])
