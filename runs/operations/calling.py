"""Takes one call of an outside agent: a turn of its own, and the same step for the same call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentops.tenancy.actor import Actor
from runs import ledger, probing
from runs.book import Book
from runs.domain.errors import NoSuchTool, NotExternal, NotThePrincipal, RunFinished, TooManyOpen
from runs.domain.planning import ToolProposal, Turn
from runs.domain.run import TerminalReason
from runs.domain.step import OPEN, StepStatus
from runs.models import Step
from runs.operations import judging
from runs.operations.advancing import external_due
from runs.operations.ending import end
from runs.operations.healing import heal_due
from runs.operations.proposers import check_proposer, narrow
from runs.operations.proposing import fingerprint_of, probes_for, propose
from runs.operations.readings import Reading, Readings

MAX_OPEN = 8


@dataclass(frozen=True)
class Called:
    """The step that answers the call; `attached`: it stands for an earlier, identical call."""

    step_id: UUID
    attached: bool


def call(actor: Actor, run_id: UUID, proposal: ToolProposal) -> Called:
    """Propose one call, or find the earlier one that it repeats. Up to `MAX_OPEN` calls of a run may be open.

    Raises NotForAgents, NotExternal, NotThePrincipal, RunFinished, NoSuchTool, TooManyOpen.
    """
    check_proposer(actor)
    found: Sequence[Reading] = ()
    for _ in range(2):
        with ledger.opened_run(actor.tenant_id, run_id) as book:
            _check_run(book, actor)
            earlier = _repeated(book, proposal)
            if earlier is not None:
                return Called(earlier.id, attached=True)
            wanted = [] if found else probes_for(book, Turn((proposal,)), {})
            if not wanted:
                steps = propose(book, Turn((proposal,)), _placed(book, found), actor=actor.label)
                external_due(book)
        if not wanted:
            break
        found = probing.read(wanted)
    if not steps:
        raise RunFinished(status=book.run.status, terminal_reason=book.run.terminal_reason)
    return Called(steps[0].id, attached=False)


def finish(actor: Actor, run_id: UUID, answer: str) -> None:
    """End the run as the outside agent says. Raises as `call` does, TooManyOpen while any call is open."""
    check_proposer(actor)
    with ledger.opened_run(actor.tenant_id, run_id) as book:
        _check_run(book, actor)
        if waiting := book.open_steps():
            raise TooManyOpen("Calls of the run are open; the run ends when they are settled.", open=len(waiting))
        end(book, TerminalReason.COMPLETED, actor=actor.label, answer=answer)


def _check_run(book: Book, actor: Actor) -> None:
    if book.run.principal != actor.principal:
        raise NotThePrincipal
    if book.agent.planner != "external":
        raise NotExternal
    heal_due(book)
    narrow(book, actor.scopes)
    if book.is_final or book.run.cancel_requested_at is not None:
        raise RunFinished(status=book.run.status, terminal_reason=book.run.terminal_reason)


def _repeated(book: Book, proposal: ToolProposal) -> Step | None:
    """The step that this call repeats: one that is open, a change that was made, or what a person rejected."""
    tool = judging.tool_in_reach(book, proposal.tool)
    if tool is None or not tool.enabled or tool.quarantined:
        raise NoSuchTool
    named = fingerprint_of(book, proposal)
    answers = {*OPEN, StepStatus.REJECTED} | ({StepStatus.SUCCEEDED} if tool.pinned.spec.is_mutation else set())
    same = [s for s in book.in_status(*answers) if named is not None and s.fingerprint == named]
    if not same and len(book.open_steps()) >= MAX_OPEN:
        raise TooManyOpen
    return same[-1] if same else None


def _placed(book: Book, found: Sequence[Reading]) -> Readings:
    """The readings at the place that the call takes now: other calls may have taken a turn since."""
    place = f"{book.run.turns + 1}.0"
    return {(place, reading.name): replace(reading, place=place) for reading in found}
