"""Reads a playbook and says everything that is wrong with it, each fault with its place and what to do."""

from collections.abc import Collection, Iterator
from typing import Any

from pydantic import ValidationError

from agentops.domain_error import DomainError
from runs.domain.errors import InvalidAgent
from runs.domain.playbook import ONE, SEVERAL, ParallelSteps, Playbook, PlaybookStep, members
from tools.domain import expressions, templates
from tools.domain.canonical import Json, parse
from tools.domain.errors import ExpressionFailed, InvalidExpression, SpecFault
from tools.domain.errors_values import InvalidTemplate
from tools.domain.faults import faults_of

_GIVEN = frozenset({"input", "task"})
_RESERVED = _GIVEN | {"item"}

type Faults = Iterator[SpecFault]


def read_playbook(text: str) -> Playbook:
    """The playbook in `text`. Raises InvalidAgent with every fault found."""
    playbook, faults = checked_playbook(parse(text))
    if playbook is None or faults:
        raise InvalidAgent(faults)
    return playbook


def checked_playbook(raw: Json) -> tuple[Playbook | None, list[SpecFault]]:
    """The playbook, unless its shape is wrong, and every fault below `/playbook`."""
    try:
        playbook = Playbook.model_validate(raw)
    except ValidationError as error:
        return None, faults_of(error, "/playbook", skip=(ONE, SEVERAL))
    return playbook, list(_meaning(playbook))


def calls_of(playbook: Playbook) -> Iterator[tuple[str, PlaybookStep]]:
    """Every call with its pointer."""
    for index, entry in enumerate(playbook.steps):
        for position, step in enumerate(members(entry)):
            inside = f"/parallel/{position}" if isinstance(entry, ParallelSteps) else ""
            yield f"/playbook/steps/{index}{inside}", step


def _meaning(playbook: Playbook) -> Faults:
    known = _GIVEN
    for index, entry in enumerate(playbook.steps):
        saved: set[str] = set()
        for position, step in enumerate(members(entry)):
            is_parallel = isinstance(entry, ParallelSteps)
            place = f"/playbook/steps/{index}" + (f"/parallel/{position}" if is_parallel else "")
            yield from _call(place, step, known, is_parallel=is_parallel)
            saved |= {step.save_as} if step.save_as else set()
        known |= saved
    try:
        templates.check(playbook.answer, known)
    except InvalidTemplate as error:
        yield SpecFault("/playbook/answer", error.message)


def _call(place: str, step: PlaybookStep, known: frozenset[str], *, is_parallel: bool) -> Faults:
    if step.save_as in _RESERVED:
        yield SpecFault(f"{place}/save_as", f"{step.save_as} is taken: save under another name.")
    if step.for_each is not None:
        if is_parallel:
            yield SpecFault(f"{place}/for_each", "A call in parallel cannot repeat: make it a step of its own.")
        yield from _list(f"{place}/for_each", step.for_each, known)
        known |= {"item"}
    if step.when is not None:
        yield from _expression(f"{place}/when", step.when, known)
    for where, source in expressions.sources(step.args, f"{place}/args"):
        yield from _expression(where, source, known)


def _expression(place: str, source: str, known: Collection[str]) -> Faults:
    try:
        expressions.check_names(source, known)
    except InvalidExpression as error:
        yield SpecFault(place, error.message)


def _list(place: str, source: str, known: Collection[str]) -> Faults:
    """What an expression over nothing, or over the task alone, gives is known already."""
    faults = list(_expression(place, source, known))
    yield from faults
    if faults or expressions.names_in(source) - {"task"}:
        return
    try:
        value: Any = expressions.evaluate(source, {"task": ""})
    except DomainError as error:
        if not isinstance(error, ExpressionFailed):
            raise
        value = None
    if not isinstance(value, list):
        yield SpecFault(place, "This is never a list: name one, such as input.lines.")
