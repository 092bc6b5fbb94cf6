"""The shortest legal ways to runs in each state, with tools that really do something and remember it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.decision import Then, Verdict
from approvals.models import ApprovalRequest, PolicyVersion
from runs import execution, probing
from runs.domain.budget import Counters
from runs.domain.planning import Finish, ToolProposal
from runs.models import Event, Run, Step, WorkItem
from runs.operations import advancing
from runs.operations.advancing import Execute, Probe
from runs.operations.claiming import Claimed
from runs.operations.configuring import install_agent
from runs.operations.deciding import Decided, decide
from runs.operations.starting import start_run
from runs.operations.submitting import submit
from tests.cast import Cast
from tests.runs.world import TOOLS, WORLDS, World
from tools.domain.canonical import canonical
from tools.domain.checks import parse_spec
from tools.operations import install_code_tools, install_specs

__all__ = ["TOOLS", "WORLDS", "Stage", "World", "new_stage"]


@dataclass
class Stage:
    """A tenant with the test tools, one account of its own, and an agent of each kind."""

    cast: Cast
    account: str
    world: World

    @property
    def tenant_id(self) -> UUID:
        return self.cast.tenant.id

    def agent(self, slug: str, steps: list[dict[str, Any]], *, budget: Any = None, answer: str = "Done.",
              tools: Sequence[str] = ()) -> str:  # fmt: skip
        """A playbook agent, with the test tools and these."""
        playbook = {"steps": steps, "answer": answer}
        install_agent(self.tenant_id, slug=slug, name=slug, planner="playbook", tools=(*TOOLS, *tools),
                      playbook=playbook, budget=budget)  # fmt: skip
        return slug

    def external(self, slug: str = "outside", *, budget: Any = None, tools: Sequence[str] = ()) -> str:
        """An agent that somebody else plans for, with the test tools and these."""
        every = (*TOOLS, *tools)
        install_agent(self.tenant_id, slug=slug, name=slug, planner="external", tools=every, budget=budget)
        return slug

    def outside(self, *, budget: Any = None, tools: Sequence[str] = (), **kwargs: Any) -> UUID:
        """A run that the service account plans for."""
        return self.start(self.external(budget=budget, tools=tools), by=self.cast.service.actor, **kwargs)

    def propose(self, run_id: UUID, *calls: ToolProposal | Finish, **kwargs: Any) -> list[Step]:
        """One turn of the service account; its steps."""
        turn = submit(self.cast.service.actor, run_id, calls, **kwargs).turn
        return [step for step in self.steps(run_id) if step.turn == turn]

    def pay(self, amount: str = "5", *, tool: str = "t_pay_plain", again: int = 0) -> ToolProposal:
        """A payment from the stage's account."""
        return ToolProposal(tool, {"account": self.account, "amount": amount}, again=again)

    def read(self, *, again: int = 0) -> ToolProposal:
        """A look at the stage's account."""
        return ToolProposal("t_read", {"account": self.account}, again=again)

    def tool(self, definition: dict[str, Any]) -> str:
        """A tool of the tenant with this definition; its name."""
        (version,) = install_specs(self.tenant_id, [parse_spec(definition)], by="test")
        return version.tool.name

    def policy(self, *rules: dict[str, Any]) -> None:
        """These rules, from now on."""
        with tenant_transaction(self.tenant_id):
            number = PolicyVersion.objects.count() + 1
            PolicyVersion.objects.create(
                tenant_id=self.tenant_id, number=number, preset="careful", rules=canonical(list(rules)),
                created_at=timezone.now(),
            )  # fmt: skip

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
            return list(ApprovalRequest.objects.filter(run_id=run_id).order_by("opened_at", "id"))

    def pending(self, run_id: UUID) -> ApprovalRequest:
        return next(r for r in self.requests(run_id) if r.status == "pending")

    def approve(self, run_id: UUID, by: Actor | None = None) -> Decided:
        """Approve what the run has waited for longest, as bob."""
        request = self.pending(run_id)
        return decide(by or self.cast.bob.actor, request.id, verdict=Verdict.APPROVE, digest=request.digest)

    def reject(self, run_id: UUID, *, reason: str = "no", then: Then = Then.REPLAN, by: Actor | None = None) -> Decided:
        """Reject what the run has waited for longest, as bob."""
        request, actor = self.pending(run_id), by or self.cast.bob.actor
        return decide(actor, request.id, verdict=Verdict.REJECT, digest=request.digest, reason=reason, then=then)

    def refusal(self, step: Step) -> dict[str, Any]:
        """What the planner reads of a step that was not done."""
        assert step.refusal is not None, step.status
        read: dict[str, Any] = json.loads(step.refusal)
        return read

    def budget(self, run_id: UUID) -> tuple[Counters, Counters]:
        """What is used, and what is reserved."""
        run = self.run(run_id)
        return Counters.model_validate_json(run.used), Counters.model_validate_json(run.reserved)

    def lease_ends(self, run_id: UUID) -> None:
        """As if the time of every lease of the run had passed."""
        with tenant_transaction(self.tenant_id):
            Step.objects.filter(run_id=run_id, status="running").update(lease_until=_long_ago())
        self.is_due(run_id)

    def nobody_decides(self, run_id: UUID) -> None:
        """As if the time to decide had passed."""
        with tenant_transaction(self.tenant_id):
            ApprovalRequest.objects.filter(run_id=run_id, status="pending").update(expires_at=_long_ago())
        self.is_due(run_id)

    def time_is_up(self, run_id: UUID) -> None:
        """As if the run had started long ago."""
        with tenant_transaction(self.tenant_id):
            Run.objects.filter(id=run_id).update(created_at=timezone.now() - timedelta(days=400))
        self.is_due(run_id)

    def is_due(self, run_id: UUID) -> None:
        """As if the run's next look were due."""
        WorkItem.objects.filter(id=run_id).update(due_at=_long_ago())

    def work(self, run_id: UUID) -> None:
        """Let a worker take this run as far as it goes."""
        execution.work("control", run_id)

    def claim_only(self, run_id: UUID, queue: str = "control") -> Claimed:
        """Take the run to the point where its next call would be made, as a worker that then dies."""
        owner = uuid7()
        found = advancing.begin(queue, run_id, owner)
        while isinstance(found, Probe):
            found = advancing.resume(self.tenant_id, run_id, owner, readings=probing.read(found.wanted))
        assert isinstance(found, Execute), found
        return found.call


def _long_ago() -> datetime:
    return timezone.now() - timedelta(seconds=1)


def new_stage(cast: Cast) -> Stage:
    """A stage of its own."""
    install_code_tools(cast.tenant.id, TOOLS)
    account = f"acc-{uuid7().hex[-12:]}"
    WORLDS[account] = World()
    return Stage(cast, account, WORLDS[account])
