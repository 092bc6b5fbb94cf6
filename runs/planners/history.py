"""The run so far as its model is told: every call with its masked arguments and what came of it."""

from collections.abc import Iterable
from itertools import groupby
from uuid import UUID

from runs.book import Book
from runs.domain.prompt import PastCall, PastTurn
from runs.models import Observation, Proposal, Step

MOST_TURNS = 100
"""Older ones are not even read: nothing of them fits beside these."""


def past_turns(book: Book) -> list[PastTurn]:
    """The last turns, oldest first."""
    steps = [step for step in book.steps if step.turn > book.run.turns - MOST_TURNS]
    proposals, seen = _proposals(book, steps), _observations(book, steps)
    return [_turn(number, list(group), proposals, seen) for number, group in groupby(steps, lambda step: step.turn)]


def _proposals(book: Book, steps: Iterable[Step]) -> dict[UUID, Proposal]:
    missing = [step.id for step in steps if step.id not in book.proposals]
    rows = Proposal.objects.filter(tenant_id=book.run.tenant_id, step_id__in=missing).defer("sealed")
    return {row.step_id: row for row in rows} | book.proposals


def _observations(book: Book, steps: Iterable[Step]) -> dict[UUID, Observation]:
    missing = [step.id for step in steps if step.id not in book.observations]
    rows = Observation.objects.filter(tenant_id=book.run.tenant_id, step_id__in=missing).defer("whole")
    return {row.step_id: row for row in rows} | book.observations


def _turn(number: int, steps: list[Step], proposals: dict[UUID, Proposal], seen: dict[UUID, Observation]) -> PastTurn:
    calls = tuple(_call(step, proposals[step.id], seen.get(step.id)) for step in steps)
    return PastTurn(number, proposals[steps[0].id].why, calls)


def _call(step: Step, proposal: Proposal, seen: Observation | None) -> PastCall:
    args = proposal.args if proposal.args and proposal.args.startswith("{") else "{}"
    if seen is None:
        return PastCall(step.tool, args, step.refusal or f"This call is {step.status}.", untrusted=False)
    return PastCall(step.tool, args, seen.content, untrusted=seen.trust == "untrusted")
