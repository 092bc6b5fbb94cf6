"""The scripted planner: a pure function from a playbook and what it remembers to the next turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from runs.domain.planning import MAX_PROPOSALS, Answer, Finish, GiveUp, ToolProposal, Turn
from runs.domain.run import TerminalReason
from tools.domain import expressions, templates
from tools.domain.canonical import Json, canonical
from tools.domain.errors import ExpressionFailed

_NAME = r"^[a-z][a-z0-9_]{0,39}$"
ONE, SEVERAL = "one call", "several calls"


class PlaybookStep(BaseModel):
    """One call. `when`, `for_each` and `{"$cel": ...}` in args are CEL over input, task, item and saved names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str = Field(pattern=_NAME)
    args: dict[str, Any] = Field(default_factory=dict)
    when: str | None = Field(default=None, min_length=1, max_length=4000)
    for_each: str | None = Field(default=None, min_length=1, max_length=4000)
    save_as: str | None = Field(default=None, pattern=_NAME)
    on_error: Literal["stop", "continue"] = "stop"
    why: str = Field(default="", max_length=2000)
    again: int = Field(default=0, ge=0, le=1000)


class ParallelSteps(BaseModel):
    """Calls that make one turn together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parallel: tuple[PlaybookStep, ...] = Field(min_length=1, max_length=MAX_PROPOSALS)


def _branch(entry: object) -> str:
    return SEVERAL if isinstance(entry, ParallelSteps) or (isinstance(entry, dict) and "parallel" in entry) else ONE


type Entry = Annotated[
    Annotated[PlaybookStep, Tag(ONE)] | Annotated[ParallelSteps, Tag(SEVERAL)], Discriminator(_branch)
]


class Playbook(BaseModel):
    """The whole script; `answer` is a text template."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Entry, ...] = Field(max_length=1000)
    answer: str = Field(default="Done.", max_length=10_000)


@dataclass(frozen=True)
class Result:
    """How one call of the last turn ended. `value` is null unless it succeeded."""

    ok: bool
    value: Json
    code: str
    message: str


def next_turn(playbook: Playbook, *, task: str, given: Json, memory: Json) -> Answer:
    """The next turn, or the end. `memory` is what the last turn left: {at, item, saved, open}."""
    at, item, saved = _remembered(memory)
    names = {"input": given, "task": task, **saved}
    while at < len(playbook.steps):
        try:
            calls, more = _calls(playbook.steps[at], names, item)
        except ExpressionFailed as error:
            return GiveUp(TerminalReason.PLANNER_FAILED, f"Playbook step {at + 1}: {error.message}")
        here, item, at = (at, item + 1, at) if more else (at, 0, at + 1)
        if calls:
            left = {"at": at, "item": item, "saved": saved, "open": [here, [position for position, _ in calls]]}
            return Turn(tuple(call for _, call in calls), canonical(left))
    return Finish(templates.render(playbook.answer, names))


def observed(playbook: Playbook, memory: Json, results: Sequence[Result]) -> tuple[str, GiveUp | None]:
    """What to remember once the turn's calls ended so, and why to stop, if a call says so."""
    at, item, saved = _remembered(memory)
    opened = memory.get("open") if isinstance(memory, dict) else None
    if not isinstance(opened, list):
        return canonical(memory), None
    calls = members(playbook.steps[int(str(opened[0]))])
    stop = None
    for position, result in zip(opened[1], results, strict=True):  # type: ignore[arg-type]  # positions written above
        step = calls[int(str(position))]
        if result.ok and step.save_as:
            saved = {**saved, step.save_as: result.value}
        if not result.ok and step.on_error == "stop" and stop is None:
            stop = _stopped(step, result)
    return canonical({"at": at, "item": item, "saved": saved}), stop


def _stopped(step: PlaybookStep, result: Result) -> GiveUp:
    reasons = {reason.value: reason for reason in TerminalReason}
    return GiveUp(reasons.get(result.code, TerminalReason.TOOL_FAILED), f"{step.tool}: {result.message}")


def _remembered(memory: Json) -> tuple[int, int, dict[str, Any]]:
    if not isinstance(memory, dict):
        return 0, 0, {}
    saved = memory.get("saved")
    return int(str(memory.get("at", 0))), int(str(memory.get("item", 0))), saved if isinstance(saved, dict) else {}


def members(entry: PlaybookStep | ParallelSteps) -> tuple[PlaybookStep, ...]:
    return entry.parallel if isinstance(entry, ParallelSteps) else (entry,)


def _calls(
    entry: PlaybookStep | ParallelSteps, names: Mapping[str, Any], item: int
) -> tuple[list[tuple[int, ToolProposal]], bool]:
    """The calls of this turn with their places in the entry, and whether the entry has another item."""
    if isinstance(entry, PlaybookStep) and entry.for_each is not None:
        items = expressions.evaluate(entry.for_each, names)
        if not isinstance(items, list):
            raise ExpressionFailed(f"“{entry.for_each}” is not a list.")
        if item >= len(items):
            return [], False
        return _one(0, entry, {**names, "item": items[item]}), item + 1 < len(items)
    return [call for place, step in enumerate(members(entry)) for call in _one(place, step, names)], False


def _one(place: int, step: PlaybookStep, names: Mapping[str, Any]) -> list[tuple[int, ToolProposal]]:
    if step.when is not None and expressions.evaluate(step.when, names) is not True:
        return []
    args = expressions.fill(step.args, names)
    return [(place, ToolProposal(tool=step.tool, args=args, why=step.why, again=step.again))]
