"""What the guards and the policy say of one call, from an open book: the same at proposal and at claim."""

from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal
from typing import Any

from agentops.tenancy.scopes import allows
from approvals import gate
from approvals.gate import Facts, Judgement
from runs.book import Book, ToolNow
from runs.domain.budget import Charge, Exceeded, exceeded
from runs.domain.guards import CallFacts, Earlier, Misplaced
from runs.domain.planning import Refusal
from runs.domain.step import StepStatus
from runs.models import Step
from tools.domain.canonical import Json, parse
from tools.domain.command_line import misfits
from tools.domain.cost import expected
from tools.domain.errors import CostUnreadable
from tools.domain.schema import Fault, faults_in
from tools.domain.spec import ToolSpec
from tools.domain.standing import nowhere
from tools.registry import is_in_place, is_offered


def tool_in_reach(book: Book, name: str) -> ToolNow | None:
    """The tool, if the agent has it and the principal's scopes allow it."""
    tool = book.tools.get(name)
    return tool if tool is not None and allows(book.rights.scopes, tool.pinned.spec.required_scope) else None


def call_facts(
    book: Book,
    name: str,
    args: Json,
    *,
    earlier: Sequence[Earlier],
    over: Exceeded | None = None,
    drifted: bool = False,
    step: Step | None = None,
    late: bool = False,
) -> CallFacts:
    """The facts of a call for the guards. `step`: the one that makes it, once there is one."""
    tool = book.tools.get(name)
    spec = tool.pinned.spec if tool else None
    return CallFacts(
        tool=name,
        tenant_active=book.tenant_active,
        rights_lost=book.rights.lost,
        known=tool is not None,
        in_scope=tool_in_reach(book, name) is not None,
        enabled=bool(tool and tool.enabled),
        quarantined=bool(tool and tool.quarantined),
        drifted=drifted,
        is_mutation=bool(spec and spec.is_mutation),
        faults=_faults(spec, args) if spec else (),
        earlier=earlier,
        over=over,
        misplaced=_misplaced(book, name, step),
        late=late,
    )


def _misplaced(book: Book, name: str, step: Step | None) -> Misplaced | None:
    tool, standing = book.tools.get(name), book.workflow.standing if book.workflow else None
    if tool is None or not tool.pinned.gated:
        return None
    in_place = is_in_place(tool.pinned, standing)
    if in_place and not (standing and standing.busy_for(name, step.id if step else None)):
        return None
    usable = {t.pinned.name: t.pinned.gated for t in book.tools.values() if is_offered(t.pinned, book.rights.scopes)}
    return Misplaced(in_place, standing.told(usable) if standing else nowhere(usable))


def earlier_steps(book: Book, fingerprint: str | None, *, but: Step | None = None) -> list[Earlier]:
    """The run's other steps with this fingerprint, oldest first."""
    same = (s for s in book.steps if fingerprint and s.fingerprint == fingerprint and s is not but)
    return [Earlier(s.id, StepStatus(s.status), s.turn, s.index, _reason(s)) for s in same]


def price(tool: ToolNow, args: Json, book: Book) -> Charge | Refusal:
    """What the call would take, or why that cannot be told."""
    try:
        cost = expected(tool.pinned.spec.cost, args)
    except CostUnreadable as error:
        return Refusal("invalid_arguments", error.message, retryable=True, extra={"errors": []})
    limit = book.limits.money
    if cost.currency and limit and cost.currency != limit.currency:
        message = f"The run's money budget is in {limit.currency}, the call is in {cost.currency}."
        return Refusal("invalid_arguments", message, extra={"errors": []})
    if limit and cost.currency is None and tool.pinned.spec.cost.money is not None:
        message = "Only the result says the currency of this call, and the run's money is limited."
        return Refusal("invalid_arguments", message, extra={"errors": []})
    return Charge(money=cost.amount or Decimal(0), records=cost.records)


def over_budget(book: Book, charge: Charge) -> Exceeded | None:
    """Which budget one more such call would exceed."""
    return exceeded(book.limits, book.used, book.reserved, charge)


def judge(book: Book, step: Step, tool: ToolNow) -> Judgement:
    """What the tenant's policy says of the call now; it reads the masked arguments."""
    spec, args = tool.pinned.spec, parse(book.proposals[step.id].args or "{}")
    facts = Facts(
        tool=spec.name,
        risk=spec.risk,
        is_effect=spec.is_effect,
        tainted=book.run.tainted,
        args=args if isinstance(args, dict) else {},
        run={"agent": book.run.agent_slug, "turns": book.run.turns, "tainted": book.run.tainted},
        principal=book.run.principal,
        tenant=book.tenant_slug,
        **(_circumstances(book) if book.policy.rules else {}),
    )
    return gate.review(book.policy, facts)


def _circumstances(book: Book) -> dict[str, Any]:
    """What only a team's own rules look at: budgets as the run's page shows them, the time in UTC, the run's steps."""
    now = book.now.astimezone(UTC)
    figures = {"limit": book.limits, "used": book.used, "reserved": book.reserved}
    return {
        "budget": {name: parse(figure.model_dump_json(exclude_none=True)) for name, figure in figures.items()},
        "time": {"at": now.isoformat(), "hour": now.hour, "weekday": now.isoweekday()},
        "history": [{"tool": s.tool, "status": s.status, "turn": s.turn} for s in book.steps],
    }


def _faults(spec: ToolSpec, args: Json) -> Sequence[Fault]:
    if not isinstance(args, dict):
        return [Fault("", "The arguments must be an object.")]
    return faults_in(spec.input_validator, args) or misfits(spec, args)


def _reason(step: Step) -> str:
    if step.refusal is None:
        return ""
    stored = parse(step.refusal)
    return str(stored.get("reason", "")) if isinstance(stored, dict) else ""
