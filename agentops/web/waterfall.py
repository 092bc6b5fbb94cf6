"""The steps of a run over time: planning, waiting for people, executing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agentops.web.display.fields import Field
from agentops.web.durations import lasted
from runs.queries import StepView

LEAST_WIDTH = 0.4
GIST_VALUES, GIST_CHARACTERS = 2, 24


@dataclass(frozen=True)
class Segment:
    """A stretch of one kind; `x` and `width` are percent of the whole run."""

    kind: str
    x: str
    width: str


@dataclass(frozen=True)
class Fall:
    """One step with its stretches and how long it took. `model_call`: the request whose answer it stands in."""

    view: StepView
    segments: list[Segment]
    seconds: float
    fields: Sequence[Field]
    number: str
    model_call: int | None = None

    @property
    def lasted(self) -> str:
        """How long it took, for people."""
        return lasted(self.seconds)

    @property
    def gist(self) -> list[str]:
        """The first short values of the call, exact, so that steps of one tool can be told apart."""
        short = [field.text for field in self.fields if len(field.text) <= GIST_CHARACTERS]
        return short[:GIST_VALUES]


def segments(view: StepView, before: datetime, start: datetime, end: datetime) -> list[Segment]:
    """The stretches of one step; `before`: when the step before it settled, so when planning for it began."""
    step = view.step
    done = step.settled_at or end
    parts = [("planning", before, step.created_at)]
    parts += [("waiting", ask.opened_at, ask.decided_at or end) for ask in view.requests]
    parts += [("executing", a.started_at, a.finished_at or done) for a in view.attempts]
    if not view.attempts and step.started_at:
        parts.append(("executing", step.started_at, done))
    whole = max((end - start).total_seconds(), 0.001)
    return [_segment(kind, (a - start).total_seconds(), (b - start).total_seconds(), whole) for kind, a, b in parts]


def planning_began(views: Sequence[StepView], start: datetime) -> list[datetime]:
    """For each step, when the planner could begin on its turn: the end of the turn before."""
    ends = {0: start}
    for view in views:
        done = view.step.settled_at or view.step.created_at
        ends[view.step.turn] = max(ends.get(view.step.turn, start), done)
    return [min(ends.get(v.step.turn - 1, start), v.step.created_at) for v in views]


def numbers(views: Sequence[StepView]) -> list[str]:
    """`3` for the only step of turn 3; `3.1`, `3.2` where the turn has several."""
    many = Counter(view.step.turn for view in views)
    return [f"{v.step.turn}.{v.step.index + 1}" if many[v.step.turn] > 1 else str(v.step.turn) for v in views]


def took(view: StepView, end: datetime) -> float:
    """Seconds from the proposal to the end of the step, or to now."""
    return max(0.0, ((view.step.settled_at or end) - view.step.created_at).total_seconds())


def _segment(kind: str, start: float, end: float, whole: float) -> Segment:
    x = min(100 - LEAST_WIDTH, max(0.0, start / whole * 100))
    width = max(LEAST_WIDTH, min(100 - x, (end - start) / whole * 100))
    return Segment(kind, f"{x:.3f}%", f"{width:.3f}%")
