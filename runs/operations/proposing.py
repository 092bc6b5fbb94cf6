"""Takes a planner's answer into the run: each proposal becomes a step that is refused, cleared or held."""

from collections.abc import Sequence
from uuid import UUID

from agentops.postgres.trip import storable
from agentops.tenancy.ids import uuid7
from approvals.domain.policy import Effect
from runs.book import MACHINE, Book, ToolNow
from runs.domain.budget import Charge
from runs.domain.fingerprint import idempotency_key
from runs.domain.guards import Earlier, first_refusal
from runs.domain.planning import Refusal, ToolProposal, Turn
from runs.domain.run import TerminalReason
from runs.domain.step import SETTLED_MUTATION, StepEvent, StepStatus
from runs.masking import mask_args, seal_args
from runs.models import Observation, Proposal, Step
from runs.operations import holding, judging
from runs.operations.conditions import taken_for, wanted_probes
from runs.operations.ending import end, keep_observation, refuse
from runs.operations.readings import ProbeWanted, Readings, fresh
from runs.rows import new_row
from tools.domain import templates
from tools.domain.canonical import Json, canonical
from tools.domain.secret_schemas import NOTHING_SECRET

REFUSALS_THAT_END = 3


def probes_for(book: Book, turn: Turn, readings: Readings) -> list[ProbeWanted]:
    """The conditions of this turn that have no fresh reading yet."""
    return [
        wanted
        for index, proposal in enumerate(turn.proposals)
        if (tool := judging.tool_in_reach(book, proposal.tool)) is not None and proposal.fault is None
        for wanted in wanted_probes(book, f"{book.run.turns + 1}.{index}", tool, proposal.args)
        if fresh(readings, wanted.place, wanted.condition.name) is None
    ]


def propose(book: Book, turn: Turn, readings: Readings, *, actor: str = MACHINE) -> list[Step]:
    """Write one turn. The turn beyond the step budget ends the run instead; nothing of it is written."""
    limit = book.limits.steps
    if limit is not None and book.run.turns + 1 > limit:
        end(book, TerminalReason.STEP_BUDGET, f"The planner wanted turn {book.run.turns + 1} of {limit}.")
        return []
    book.run.turns += 1
    book.charge(use={"steps": 1})
    steps = []
    for index, proposal in enumerate(turn.proposals):
        steps.append(_propose_one(book, index, proposal, readings, actor))
        if book.is_final:
            break
    return steps


def _propose_one(book: Book, index: int, proposal: ToolProposal, readings: Readings, actor: str) -> Step:
    step = new_row(
        Step,
        id=uuid7(),
        tenant_id=book.run.tenant_id,
        run_id=book.run.id,
        turn=book.run.turns,
        index=index,
        status=StepStatus.PROPOSED.value,
        tool=proposal.tool[:40],
        created_at=book.now,
    )
    row = new_row(
        Proposal,
        step_id=step.id,
        tenant_id=step.tenant_id,
        call_id=proposal.call_id,
        why=proposal.why,
        again=proposal.again,
        created_at=book.now,
    )
    book.proposals[step.id] = row
    book.add(step)
    book.add(row)
    refusal = proposal.fault or _identify(book, step, row, proposal)
    tool = judging.tool_in_reach(book, proposal.tool)
    facts = {"tool": step.tool, "fingerprint": step.fingerprint}
    book.note("step.proposed", actor, step=str(step.id), turn=step.turn, index=index, args=row.args, **facts)
    earlier = judging.earlier_steps(book, step.fingerprint)
    book.steps.append(step)
    if refusal is None and tool is not None:
        refusal = _admit(book, step, tool, proposal, earlier)
    if refusal is not None or tool is None:
        _refused(book, step, refusal or Refusal("tool_denied", "There is no such tool."))
        return step
    if not _recall(book, step, tool):
        _judge(book, step, tool, readings)
    return step


def _identify(book: Book, step: Step, row: Proposal, proposal: ToolProposal) -> Refusal | None:
    """Everything that names the call: masked and sealed arguments, resource scope, fingerprint, key."""
    tool = judging.tool_in_reach(book, proposal.tool)
    schema = tool.pinned.spec.secret_input if tool else NOTHING_SECRET
    masked = mask_args(book.run.tenant_id, proposal.args, schema, book.known_secrets)
    row.args = canonical(masked.shown)
    row.sealed = seal_args(book.run.tenant_id, step.id, proposal.args)
    facts = judging.call_facts(book, proposal.tool, proposal.args, earlier=())
    if tool is None:
        return first_refusal(facts)
    spec, pinned = tool.pinned.spec, tool.pinned
    row.resource_scope = _resource_scope(tool, masked.shown)
    step.tool_version, step.tool_version_number = pinned.version_id, pinned.number
    step.risk, step.queue = spec.risk, spec.queue
    step.fingerprint = holding.identity(book, tool, row, masked.hashed, again=proposal.again)
    failed = sum(1 for s in book.steps if s.fingerprint == step.fingerprint and s.status == StepStatus.FAILED.value)
    step.idempotency_key = idempotency_key(str(book.run.id), step.fingerprint, failed)
    return None


def fingerprint_of(book: Book, proposal: ToolProposal) -> str | None:
    """What would name this call; None where the run has no such tool."""
    tool = judging.tool_in_reach(book, proposal.tool)
    if tool is None or proposal.fault is not None:
        return None
    masked = mask_args(book.run.tenant_id, proposal.args, tool.pinned.spec.secret_input, book.known_secrets)
    row = Proposal(resource_scope=_resource_scope(tool, masked.shown))
    return holding.identity(book, tool, row, masked.hashed, again=proposal.again)


def _resource_scope(tool: ToolNow, shown: Json) -> str:
    template = tool.pinned.spec.resource_scope
    return storable(templates.render(template, {"args": shown})) if template else ""


def _admit(book: Book, step: Step, tool: ToolNow, proposal: ToolProposal, earlier: Sequence[Earlier]) -> Refusal | None:
    charge = judging.price(tool, proposal.args, book)
    if isinstance(charge, Refusal):
        return _first(book, step, proposal, earlier, None) or charge
    step.charge_money, step.charge_records = charge.money, charge.records
    return _first(book, step, proposal, earlier, charge)


def _first(
    book: Book, step: Step, proposal: ToolProposal, earlier: Sequence[Earlier], charge: Charge | None
) -> Refusal | None:
    over = judging.over_budget(book, charge) if charge is not None else None
    facts = judging.call_facts(book, step.tool, proposal.args, earlier=earlier, over=over)
    return first_refusal(facts)


def _refused(book: Book, step: Step, refusal: Refusal) -> None:
    step.charge_money, step.charge_records = Charge().money, 0
    refuse(book, step, refusal)
    if refusal.code == TerminalReason.TOOL_CALL_BUDGET:
        end(book, TerminalReason.TOOL_CALL_BUDGET, refusal.message)
    elif refusal.code in {TerminalReason.MONEY_BUDGET, TerminalReason.RECORD_BUDGET}:
        same = [s for s in book.steps if s.refusal and f'"code":"{refusal.code}"' in s.refusal]
        if len(same) >= REFUSALS_THAT_END:
            end(book, TerminalReason(refusal.code), f"{refusal.message} It was refused {len(same)} times.")


def _recall(book: Book, step: Step, tool: ToolNow) -> bool:
    """Answer a repeated read from the earlier observation, unless something was changed since."""
    spec = tool.pinned.spec
    if spec.is_mutation or spec.volatile or _moves(book, step.tool):
        return False
    same = [s for s in book.steps if s.fingerprint == step.fingerprint and s.status == StepStatus.SUCCEEDED.value]
    if not same or same[-1].settled_at is None:
        return False
    changed = (s for s in book.steps if s.risk not in {"read", ""} and StepStatus(s.status) in SETTLED_MUTATION)
    if any(s.settled_at is None or s.settled_at >= same[-1].settled_at for s in changed):
        return False
    seen = _observation(same[-1].id, book)
    if seen is None:
        return False
    book.record(step, StepEvent.RECALLED, earlier_step=str(same[-1].id))
    keep_observation(book, step, seen.trust, seen.content, seen.whole)
    return True


def _moves(book: Book, name: str) -> bool:
    way = book.workflow.standing.way(name) if book.workflow is not None else None
    return way is not None and way.to is not None


def _observation(step_id: UUID, book: Book) -> Observation | None:
    held = book.observations.get(step_id)
    return held or Observation.objects.filter(tenant_id=book.run.tenant_id, step_id=step_id).first()


def _judge(book: Book, step: Step, tool: ToolNow, readings: Readings) -> None:
    judgement = judging.judge(book, step, tool)
    if judgement.effect is Effect.DENY:
        hint = "Propose something that the tenant's policy allows."
        _refused(book, step, Refusal("policy_denied", " ".join(judgement.reasons), hint=hint))
        return
    taken = taken_for(book, step, tool, readings)
    book.proposals[step.id].conditions = canonical([[r.name, r.value] for r in taken])
    book.charge(reserve={"tool_calls": 1, "money": step.charge_money, "records": step.charge_records})
    unreadable = [r.name for r in taken if r.value is None]
    if judgement.effect is Effect.REQUIRE_APPROVAL or unreadable:
        holding.hold(book, step, tool, judgement, taken)
    else:
        book.record(step, StepEvent.CLEARED, by=list(judgement.rules), policy_version=judgement.policy_version)
