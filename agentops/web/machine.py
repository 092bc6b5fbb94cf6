"""The state machine as a drawing: places are ours, hops come from the transition table and the run's events."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _

from runs.domain.run import FINAL, RunStatus, hops

HEIGHT = 34
TERMINAL = "terminal"
PLACES: dict[str, tuple[int, int, int]] = {
    RunStatus.PLANNING.value: (6, 50, 104),
    RunStatus.VALIDATING.value: (160, 50, 104),
    RunStatus.EXECUTING.value: (314, 50, 104),
    RunStatus.OBSERVING.value: (468, 50, 104),
    RunStatus.AWAITING_APPROVAL.value: (142, 148, 140),
    TERMINAL: (450, 148, 122),
}
"""Left, top and width of each box."""

USUAL = (
    ("planning", "validating", "M110 67H160"),
    ("validating", "executing", "M264 67H314"),
    ("executing", "observing", "M418 67H468"),
    ("observing", "planning", "M520 50C520 8 58 8 58 50"),
    ("validating", "awaiting_approval", "M200 84V148"),
    ("awaiting_approval", "validating", "M224 148V84"),
    ("awaiting_approval", "executing", "M282 160C340 158 352 132 352 84"),
    ("executing", "awaiting_approval", "M380 84C380 150 350 174 282 172"),
    ("planning", "executing", "M84 50C110 20 330 20 352 50"),
    ("executing", "planning", "M380 50C360 26 90 26 66 50"),
    ("planning", "awaiting_approval", "M58 84C58 148 90 165 142 165"),
    ("awaiting_approval", "planning", "M142 174C60 178 36 140 36 84"),
    ("observing", TERMINAL, "M520 84V148"),
    ("planning", TERMINAL, "M26 84C26 220 330 206 450 172"),
    ("awaiting_approval", TERMINAL, "M282 178H450"),
    ("executing", TERMINAL, "M404 84C410 130 420 148 450 160"),
    ("awaiting_approval", "observing", "M282 154C360 150 470 130 490 84"),
    ("validating", "observing", "M236 50C270 26 440 26 490 50"),
    ("validating", TERMINAL, "M250 84C270 130 380 150 450 165"),
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
