"""A workflow as a drawing: states in layers from the first one down, their tools on them, lines between them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tools.domain.machine import Machine, State, is_within
from tools.domain.statechart import leaves
from tools.domain.workflow import WorkflowSpec

GAP, AISLE, HEAD, LINE, PAD = 52, 26, 34, 18, 16
LETTER = 7.0
LEAST = 132


@dataclass(slots=True)
class Box:
    """One state. `look`: present, holding it, visited, or nothing. `within`: the events that lead inside of it."""

    path: str
    name: str
    kind: str
    look: str
    tools: Sequence[str]
    handles: int
    within: Sequence[str] = ()
    x: float = 0
    y: float = 0
    width: float = LEAST
    height: float = HEAD
    inner: list["Box"] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def title_at(self) -> float:
        return self.y + HEAD / 2

    @property
    def rim(self) -> tuple[float, float, float, float]:
        """The inner line of a final state."""
        return self.x + 3, self.y + 3, self.width - 6, self.height - 6

    @property
    def rows(self) -> list[tuple[str, str, float]]:
        """Each line below the name: what it is, its text, and where it stands."""
        lines = [*(("tool", tool) for tool in self.tools), *(("inner", words) for words in self.within)]
        return [(kind, text, self.y + HEAD + LINE * place + 4) for place, (kind, text) in enumerate(lines)]


@dataclass(frozen=True, slots=True)
class Edge:
    """One line with the events that it stands for, and where their names stand."""

    path: str
    words: str
    x: float
    y: float
    walked: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """The whole drawing and what it says in words."""

    boxes: list[Box]
    edges: list[Edge]
    width: float
    height: float
    words: str
    is_placed: bool


def draw(
    spec: WorkflowSpec,
    *,
    state: str = "",
    walked: Collection[tuple[str, str]] = (),
    handles: Mapping[str, int] | None = None,
) -> Graph:
    """The machine; on a run's page with the present state, and the moves that were made, as pairs of states."""
    artist = _Artist(spec, set(leaves(state)) if state else set(), walked, handles or {})
    top = artist.box(spec.chart.root)
    _place(top, 1, 1)
    boxes = list(_all(top))[1:]
    edges, right = artist.edges(boxes, top.width)
    return Graph(boxes, edges, right + 2, top.height + 2, artist.words(), bool(state))


class _Artist:
    def __init__(
        self,
        spec: WorkflowSpec,
        present: set[str],
        walked: Collection[tuple[str, str]],
        handles: Mapping[str, int],
    ) -> None:
        self.spec, self.chart, self.present, self.handles = spec, spec.chart, present, handles
        self.walked = {(a, b) for before, after in walked for a in leaves(before) for b in leaves(after) if a != b}
        self.visited = {path for pair in self.walked for path in pair}

    def box(self, state: State) -> Box:
        """The state with everything in it, sized; nothing is placed yet."""
        tools = [binding.tool for binding in self.spec.bindings if state.path in binding.states]
        box = Box(
            path=state.path,
            name=state.path.rpartition(".")[2],
            kind=state.kind,
            look=self._look(state),
            tools=tools,
            within=[
                f"{event} → {target.removeprefix(state.path + '.')}"
                for event, target in state.on.items()
                if state.path and is_within(target, state.path) and target != state.path
            ],
            handles=sum(n for at, n in self.handles.items() if state.path in leaves(at)),
        )
        lines = [*tools, *box.within]
        words = max([len(box.name) + 4 * bool(box.handles), *map(len, lines)])
        box.width = max(LEAST, words * LETTER + 2 * PAD)
        box.height = HEAD + len(lines) * LINE + (8 if lines else 0) if state.path else 0
        self._fill(box, state)
        return box

    def _fill(self, box: Box, state: State) -> None:
        """Children stand in layers; the regions of a parallel state beside each other."""
        layers = [list(state.children)] if state.kind == "parallel" else _layers(self.chart, state)
        edge: float = PAD if state.path else 0
        y = box.height + edge
        for layer in layers:
            row = [self.box(self.chart.states[path]) for path in layer]
            x = edge
            for inner in row:
                inner.x, inner.y = x, y
                x += inner.width + AISLE
            y += max(inner.height for inner in row) + GAP
            box.inner += row
            box.width = max(box.width, x - AISLE + edge)
        if layers:
            box.height = y - GAP + edge
            _centre(box)

    def _look(self, state: State) -> str:
        if any(is_within(path, state.path) for path in self.present):
            return "present" if state.is_leaf else "holding"
        return "visited" if state.path in self.visited else ""

    def edges(self, boxes: Sequence[Box], width: float) -> tuple[list[Edge], float]:
        """Every transition between two states as a line, and how far right they reach."""
        place = {box.path: box for box in boxes}
        found: list[Edge] = []
        right, lane = width, 0
        for (source, target), events in self._events().items():
            a, b, words = place[source], place[target], ", ".join(events)
            is_walked = (source, target) in self.walked
            if 0 < b.y - a.y - a.height <= GAP:
                found.append(_down(a, b, words, is_walked))
            else:
                out = width + 12 + 20 * lane
                found.append(_around(a, b, words, is_walked, out))
                right, lane = max(right, out + len(words) * LETTER + 14), lane + 1
        return sorted(found, key=lambda edge: edge.walked), right

    def _events(self) -> dict[tuple[str, str], list[str]]:
        """The events from one state to another. The machine's own, which start anywhere, and those that lead inside
        of their state are told in words."""
        found: dict[tuple[str, str], list[str]] = {}
        for path, state in self.chart.states.items():
            for event, target in [*state.on.items(), *([("done", state.done)] if state.done else [])]:
                if path and (target == path or not is_within(target, path)):
                    found.setdefault((path, target), []).append(event)
        return found

    def words(self) -> str:
        """The same for somebody who does not see it."""
        lines = [f"{path} {event} {target}" for path, state in self.chart.states.items() if path
                 for event, target in state.on.items()]  # fmt: skip
        return "; ".join(lines)


def _layers(chart: Machine, state: State) -> list[list[str]]:
    """The children by how many transitions lead there from the initial one; those that none leads to come last."""
    if not state.children:
        return []
    rank = {state.initial: 0}
    waiting = [state.initial]
    for child in waiting:
        for target in _targets(chart, state, child):
            if target not in rank:
                rank[target] = rank[child] + 1
                waiting.append(target)
    last = max(rank.values()) + 1
    ranks = [rank.get(child, last) for child in state.children]
    layers = [[c for c, r in zip(state.children, ranks, strict=True) if r == at] for at in range(last + 1)]
    return [layer for layer in layers if layer]


def _targets(chart: Machine, state: State, child: str) -> Iterable[str]:
    """The other children that something in this one leads to."""
    for path, inner in chart.states.items():
        if is_within(path, child):
            for target in (*inner.on.values(), *([inner.done] if inner.done else [])):
                yield from (other for other in state.children if other != child and is_within(target, other))


def _centre(box: Box) -> None:
    """Narrow layers stand in the middle."""
    for y in {inner.y for inner in box.inner}:
        row = [inner for inner in box.inner if inner.y == y]
        spare = (box.width - (row[-1].x + row[-1].width + row[0].x)) / 2
        for inner in row:
            inner.x += spare


def _place(box: Box, x: float, y: float) -> None:
    box.x, box.y = box.x + x, box.y + y
    for inner in box.inner:
        _place(inner, box.x, box.y)


def _all(box: Box) -> Iterable[Box]:
    yield box
    for inner in box.inner:
        yield from _all(inner)


def _down(a: Box, b: Box, words: str, walked: bool) -> Edge:
    top, bottom = a.y + a.height, b.y
    bend = (top + bottom) / 2
    path = f"M{a.middle:.1f} {top:.1f}C{a.middle:.1f} {bend:.1f} {b.middle:.1f} {bend:.1f} {b.middle:.1f} {bottom:.1f}"
    return Edge(path, words, (a.middle + b.middle) / 2 + 8, bend, walked=walked)


def _around(a: Box, b: Box, words: str, walked: bool, out: float) -> Edge:
    """A line that leaves and arrives at the right, past everything between."""
    start, end = a.x + a.width, b.x + b.width
    y1, y2 = a.y + 12, b.y + 22
    # How far the middle of the curve comes out is this much less than where it is drawn to.
    pull = (8 * out - start - end) / 6
    path = f"M{start:.1f} {y1:.1f}C{pull:.1f} {y1:.1f} {pull:.1f} {y2:.1f} {end:.1f} {y2:.1f}"
    return Edge(path, words, out + 6, (y1 + y2) / 2, walked=walked)
