"""The tools of the tests: each really does something to its test's own world, and remembers it."""

import threading
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from tools.declare import ToolContext, tool
from tools.domain.outcome import ToolError


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
    traceparents: list[str] = field(default_factory=list)
    fail_next: Exception | None = None
    gate: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)


WORLDS: dict[str, World] = {}


def _world(account: str) -> World:
    return WORLDS[account]


@tool(name="t_read", description="Reads an account.", risk="read", scope="ledger:read", output_trust="trusted")
def t_read(args: Account, ctx: ToolContext) -> Told:
    world = _world(args.account)
    world.reads += 1
    world.traceparents.append(ctx.traceparent)
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
