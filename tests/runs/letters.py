"""Letters that are sent once a key, whose answers can be lost, and a book in which they can be looked up."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from pydantic import BaseModel

from agentops.tenancy.transaction import tenant_transaction
from runs.models import Step, WorkItem
from runs.operations.configuring import install_agent
from tests.runs.scenario import Stage
from tools.declare import ToolContext, tool
from tools.domain.outcome import ToolError


class Letter(BaseModel):
    """To whom."""

    to: str


class Asked(BaseModel):
    """By which key."""

    key: str


class Sent(BaseModel):
    """How often it was sent, and whether the other side is sure."""

    times: int
    sure: bool = False


class Office:
    """What the other system knows."""

    def __init__(self) -> None:
        self.by_key: dict[str, int] = {}
        self.sure = False
        self.lose_answers = 0
        self.refuse: ToolError | None = None
        self.act_before_losing = True


OFFICES: dict[str, Office] = {}


def _send(args: Letter, ctx: ToolContext) -> Sent:
    office = OFFICES[args.to]
    if office.refuse is not None:
        raise office.refuse
    if office.lose_answers == 0 or office.act_before_losing:
        office.by_key[ctx.idempotency_key] = office.by_key.get(ctx.idempotency_key, 0) + 1
    if office.lose_answers:
        office.lose_answers -= 1
        raise RuntimeError("the line broke")
    return Sent(times=office.by_key[ctx.idempotency_key], sure=True)


@tool(name="u_sent", description="Looks a letter up.", risk="read", scope="ledger:read", output_trust="trusted")
def u_sent(args: Asked, ctx: ToolContext) -> Sent:
    office = next(o for name, o in OFFICES.items() if args.key.startswith(name) or args.key in o.by_key or o.sure)
    return Sent(times=office.by_key.get(args.key, 0), sure=office.sure)


LOOKUP = {
    "probe": {"tool": "u_sent", "args": {"key": {"$cel": "idempotency_key"}}},
    "succeeded": "result.times > 0",
    "failed": "result.sure && result.times == 0",
    "result": "{times: times, sure: sure}",
}


@tool(name="u_send", description="Sends.", risk="write", scope="ledger:write", output_trust="trusted",
      timeout_ms=1000, reconcile=LOOKUP)  # fmt: skip
def u_send(args: Letter, ctx: ToolContext) -> Sent:
    return _send(args, ctx)


@tool(name="u_send_native", description="Sends once a key.", risk="write", scope="ledger:write",
      output_trust="trusted", idempotency="native")  # fmt: skip
def u_send_native(args: Letter, ctx: ToolContext) -> Sent:
    return _send(args, ctx)


def approved(stage: Stage, name: str) -> UUID:
    """A run of an agent that has this one tool, its only call approved. The probe is not the agent's."""
    steps = [{"tool": name, "args": {"to": {"$cel": "input.to"}}, "save_as": "sent"}]
    playbook: Any = {"steps": steps, "answer": "Sent {sent.times} time(s)."}
    install_agent(stage.tenant_id, slug="clerk", name="Clerk", planner="playbook", tools=[name], playbook=playbook)
    run_id = stage.start("clerk", given={"to": stage.account})
    stage.work(run_id)
    stage.approve(run_id)
    return run_id


def later(stage: Stage, run_id: UUID, seconds: float = 20_000) -> None:
    """As if that much time had passed for the calls of this run."""
    with tenant_transaction(stage.tenant_id):
        for step in Step.objects.filter(run_id=run_id, status__in=["unknown", "running"]):
            step.attempts.filter(outcome=None).update(started_at=step.created_at)
            step.lookup_at = step.lookup_at and timezone.now() - timedelta(seconds=1)
            step.lease_until = step.lease_until and timezone.now() - timedelta(seconds=1)
            step.save(update_fields=["lookup_at", "lease_until"])
    WorkItem.objects.filter(id=run_id).update(due_at=timezone.now() - timedelta(seconds=1))
    stage.work(run_id)
