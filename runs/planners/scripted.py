"""The playbook planner on an open book: what the last turn brought, then the next turn."""

from functools import lru_cache

from runs.book import Book
from runs.domain.errors import InvalidRequest
from runs.domain.planning import Answer, GiveUp
from runs.domain.playbook import Playbook, Result, next_turn, observed
from runs.domain.run import TerminalReason
from runs.domain.script import read_playbook
from runs.domain.step import StepStatus
from runs.masking import unseal_input
from runs.models import Observation, Step
from tools.domain.canonical import Json, parse


def plan(book: Book) -> Answer:
    """The playbook's next answer. What it has learnt is kept in `planner_state`."""
    try:
        playbook = _playbook(book.agent.playbook)
    except InvalidRequest as error:
        return GiveUp(TerminalReason.PLANNER_FAILED, error.message)
    memory = parse(book.run.planner_state)
    if isinstance(memory, dict) and memory.get("open") is not None:
        remembered, stop = observed(playbook, memory, _results(book))
        book.run.planner_state = remembered
        if stop is not None:
            return stop
        memory = parse(remembered)
    return next_turn(playbook, task=book.run.task, given=unseal_input(book.run), memory=memory)


def _results(book: Book) -> list[Result]:
    steps = [s for s in book.steps if s.turn == book.run.turns]
    missing = [s.id for s in steps if s.status == StepStatus.SUCCEEDED.value and s.id not in book.observations]
    if missing:
        for row in Observation.objects.filter(tenant_id=book.run.tenant_id, step_id__in=missing):
            book.observations[row.step_id] = row
    return [_result(book, step) for step in steps]


def _result(book: Book, step: Step) -> Result:
    if step.status == StepStatus.SUCCEEDED.value:
        return Result(True, parse(book.observations[step.id].whole), "", "")
    refusal: Json = parse(step.refusal) if step.refusal else None
    if not isinstance(refusal, dict):
        return Result(False, None, "tool_failed", f"The step is {step.status}.")
    return Result(False, None, str(refusal.get("code", "")), str(refusal.get("message", "")))


@lru_cache(maxsize=256)
def _playbook(text: str) -> Playbook:
    return read_playbook(text)
