"""The state machine as a drawing: places are ours, hops come from the transition table and the run's events."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _

from runs.domain.run import FINAL, RunStatus, hops

HEIGHT = 34
TERMINAL = "terminal"
PLACES: dict[str, tuple[int, int, int]] = {
    RunStatus.PLANNING.value: (4, 52, 106),
    RunStatus.VALIDATING.value: (142, 52, 106),
    RunStatus.EXECUTING.value: (280, 52, 106),
    RunStatus.OBSERVING.value: (418, 52, 106),
    RunStatus.AWAITING_APPROVAL.value: (116, 146, 158),
    TERMINAL: (406, 146, 118),
}
"""Left, top and width of each box."""

USUAL = (
    ("planning", "validating", "M110 69H142"),
    ("validating", "executing", "M248 69H280"),
    ("executing", "observing", "M386 69H418"),
    ("observing", "planning", "M471 52C471 8 57 8 57 52"),
    ("validating", "awaiting_approval", "M180 86V146"),
    ("awaiting_approval", "validating", "M208 146V86"),
    ("awaiting_approval", "executing", "M274 157C312 155 320 128 320 86"),
    ("executing", "awaiting_approval", "M346 86C346 150 322 171 274 171"),
    ("planning", "executing", "M82 52C106 22 296 22 318 52"),
    ("executing", "planning", "M342 52C322 28 90 28 70 52"),
    ("planning", "awaiting_approval", "M66 86C66 140 84 159 116 159"),
    ("awaiting_approval", "planning", "M116 171C66 174 46 132 46 86"),
    ("observing", TERMINAL, "M471 86V146"),
    ("planning", TERMINAL, "M20 86C20 230 210 210 406 174"),
    ("awaiting_approval", TERMINAL, "M274 166H406"),
    ("executing", TERMINAL, "M366 86C370 126 382 146 406 156"),
    ("awaiting_approval", "observing", "M274 152C340 148 436 130 444 86"),
    ("validating", "observing", "M220 52C252 24 408 24 440 52"),
    ("validating", TERMINAL, "M234 86C250 130 350 152 406 162"),
)
"""The hops that have a line of their own; the first five and planning's end are drawn always."""

ALWAYS = frozenset(
    {
        ("planning", "validating"),
        ("validating", "executing"),
        ("executing", "observing"),
        ("observing", "planning"),
        ("validating", "awaiting_approval"),
        ("awaiting_approval", "executing"),
        ("planning", TERMINAL),
    }
)


@dataclass(frozen=True)
class Box:
    """One state; `look` is present, visited or empty."""

    name: str
    times: int
    x: int
    y: int
    width: int
    look: str

    @property
    def mid(self) -> tuple[float, float]:
        """Where the word stands."""
        return self.x + self.width / 2, self.y + HEIGHT / 2


@dataclass(frozen=True)
class Line:
    """One hop; `walked` when the run took it."""

    path: str
    walked: bool


@dataclass(frozen=True)
class Machine:
    """The whole drawing and what it says in words."""

    boxes: list[Box]
    lines: list[Line]
    words: str


def draw(present: str, visited: Iterable[str]) -> Machine:
    """The machine of a run that went through `visited` statuses in order and stands at `present`."""
    way = [_place(status) for status in visited]
    walked = set(pairwise(way))
    allowed = {(a, _place(b)) for a, b in hops()}
    drawn = [(a, b, path) for a, b, path in USUAL if (a, b) in allowed and ((a, b) in ALWAYS or (a, b) in walked)]
    lines = sorted((Line(path, (a, b) in walked) for a, b, path in drawn), key=lambda line: line.walked)
    boxes = [
        Box(_word(name, present), way.count(name), *place, look=_look(name, _place(present), way))
        for name, place in PLACES.items()
    ]
    said = " → ".join(_word(place, present) for place in way)
    return Machine(boxes, lines, _("Now: %(now)s. Path: %(path)s.") % {"now": present.replace("_", " "), "path": said})


def _place(status: str) -> str:
    return TERMINAL if status in FINAL else status


def _look(name: str, present: str, way: list[str]) -> str:
    return "present" if name == present else "visited" if name in way else ""


def _word(place: str, present: str) -> str:
    name = present if place == TERMINAL and present in FINAL else place
    return name.replace("_", " ")
