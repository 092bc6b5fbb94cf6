"""A state machine as XState v5 writes it, read into states by their paths; what is not run is refused by name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.domain.canonical import escape
from tools.domain.errors import SpecFault

MOST_STATES = 200
DEEPEST = 8
DONE = "onDone"
_STATE_NAME = re.compile(r"\w(?:[\w :/-]{0,58}\w)?")
_EVENT_NAME = re.compile(r"\w(?:[\w .:/-]{0,78}\w)?")
_TYPES = ("atomic", "compound", "parallel", "final")
_KNOWN = frozenset({"id", "type", "initial", "states", "on", DONE, "description", "meta", "version"})
_NO_ACTIONS = "Actions are not run: what has an effect is a tool; bind one to the state."
_NOT_RUN = {
    "guard": "Guards are not run: let a policy or a precondition of the tool decide.",
    "cond": "Guards are not run: let a policy or a precondition of the tool decide.",
    "actions": _NO_ACTIONS,
    "entry": _NO_ACTIONS,
    "exit": _NO_ACTIONS,
    "after": "Delayed transitions are not run: name an event in `on` and bind a tool that fires it.",
    "always": "Transitions without an event are not run: name an event in `on` and bind a tool that fires it.",
    "invoke": "Nothing is invoked: bind a tool to the state.",
    "history": "History states are not run: name the state to go to.",
    "context": "A workflow keeps a state and no data: remove it.",
    "reenter": "Nothing happens on entry, so there is nothing to do again: remove it.",
    "output": "A final state gives nothing back: remove it.",
    "tags": "Tags are not read: bind tools to the states themselves.",
}


@dataclass(frozen=True, slots=True)
class State:
    """One state. `on`: event to the path of its target; `initial`: the path of the child that is entered first."""

    path: str
    kind: str
    children: tuple[str, ...] = ()
    initial: str = ""
    on: Mapping[str, str] = field(default_factory=dict)
    done: str = ""
    description: str = ""

    @property
    def is_leaf(self) -> bool:
        return self.kind in ("atomic", "final")


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """Every state by path, parents first; the machine itself is the state with the empty path."""

    states: Mapping[str, State]

    @property
    def root(self) -> State:
        return self.states[""]

    @property
    def is_flat(self) -> bool:
        """Whether one table says everything."""
        inner = (state for path, state in self.states.items() if path)
        return self.root.kind == "compound" and not self.root.done and all(state.is_leaf for state in inner)

    def line(self, path: str) -> Iterator[State]:
        """The state, its parent, and so on up to the machine."""
        while True:
            yield self.states[path]
            if not path:
                return
            path = parent_of(path)

    def answers(self, path: str, event: str) -> bool:
        """Whether the state, one above it or one within it has this event."""
        within = (state for at, state in self.states.items() if is_within(at, path))
        return any(event in state.on for state in (*self.line(path), *within))


def parent_of(path: str) -> str:
    """The path of the state that holds this one."""
    return path.rpartition(".")[0]


def is_within(path: str, outer: str) -> bool:
    """Whether a state is this one or inside of it."""
    return not outer or path == outer or path.startswith(f"{outer}.")


def read_machine(raw: Any, name: str) -> tuple[Machine, list[SpecFault]]:
    """The machine and every fault; with faults it is good for no more than its states' names."""
    reader = _Reader()
    reader.collect("", "/machine", raw)
    reader.ids.setdefault(name, "")
    return Machine({path: reader.state(path) for path in reader.raws}), reader.faults


class _Reader:
    def __init__(self) -> None:
        self.faults: list[SpecFault] = []
        self.raws: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.ids: dict[str, str] = {}

    def fault(self, pointer: str, detail: str) -> None:
        self.faults.append(SpecFault(pointer, detail))

    def collect(self, path: str, pointer: str, raw: Any) -> None:
        """This state and all within it, as they were written."""
        if not isinstance(raw, dict):
            self.fault(pointer, "A state is an object, {} at least.")
            raw = {}
        self.raws[path] = (pointer, raw)
        if isinstance(own := raw.get("id"), str):
            self.ids[own] = path
        self._check_members(pointer, raw, _KNOWN)
        for name, inner in self._object(raw, "states", pointer).items():
            place = f"{pointer}/states/{escape(name)}"
            if not _STATE_NAME.fullmatch(name):
                self.fault(place, "A state's name is up to 60 letters, digits, spaces and _ : / -, without a dot.")
            elif len(self.raws) > MOST_STATES or path.count(".") + 2 > DEEPEST:
                self.fault(place, f"At most {MOST_STATES} states, {DEEPEST} deep.")
            else:
                self.collect(f"{path}.{name}" if path else name, place, inner)

    def state(self, path: str) -> State:
        """The state, its targets found."""
        pointer, raw = self.raws[path]
        children = tuple(other for other in self.raws if other and other != path and parent_of(other) == path)
        kind = self._kind(path, pointer, raw, children)
        on = {event: self._target(path, f"{pointer}/on/{escape(event)}", told)
              for event, told in self._object(raw, "on", pointer).items()}  # fmt: skip
        for event in on:
            if not _EVENT_NAME.fullmatch(event):
                self.fault(f"{pointer}/on/{escape(event)}", "Name one event with letters, digits and _ . : / -.")
        if kind == "final" and (on or DONE in raw):
            self.fault(f"{pointer}/on", "Nothing follows a final state: remove it, or the type.")
        return State(
            path=path,
            kind=kind,
            children=children,
            initial=self._initial(path, pointer, raw, children) if kind == "compound" else "",
            on=on,
            done=self._target(path, f"{pointer}/{DONE}", raw[DONE]) if DONE in raw else "",
            description=str(raw.get("description", "")),
        )

    def _check_members(self, pointer: str, raw: Mapping[str, Any], known: frozenset[str]) -> None:
        for name in raw:
            if name in _NOT_RUN:
                self.fault(f"{pointer}/{name}", f"`{name}`: {_NOT_RUN[name]}")
            elif name not in known:
                self.fault(f"{pointer}/{escape(name)}", "This field is not known; remove it.")

    def _object(self, raw: Mapping[str, Any], name: str, pointer: str) -> Mapping[str, Any]:
        found = raw.get(name, {})
        if isinstance(found, dict):
            return found
        self.fault(f"{pointer}/{name}", "This is an object.")
        return {}

    def _kind(self, path: str, pointer: str, raw: Mapping[str, Any], children: tuple[str, ...]) -> str:
        kind = raw.get("type", "compound" if children or not path else "atomic")
        if kind not in _TYPES:
            self.fault(f"{pointer}/type", _NOT_RUN.get(str(kind), f"One of {', '.join(_TYPES)}."))
        elif kind in ("compound", "parallel") and not children:
            self.fault(f"{pointer}/states", "It has no states: add one.")
        elif kind in ("atomic", "final") and (children or not path):
            self.fault(f"{pointer}/type", f"A state with states is not {kind}.")
        else:
            return str(kind)
        return "compound" if children else "atomic"

    def _initial(self, path: str, pointer: str, raw: Mapping[str, Any], children: tuple[str, ...]) -> str:
        told = raw.get("initial")
        found = f"{path}.{told}" if path else str(told)
        if found in children:
            return found
        names = ", ".join(child.rpartition(".")[2] for child in children)
        self.fault(f"{pointer}/initial", f"Say in which of its states it begins: {names or 'it has none'}.")
        return children[0] if children else ""

    def _target(self, path: str, pointer: str, told: Any) -> str:
        """The path of a transition's target, as XState looks for it."""
        if isinstance(told, list) and len(told) == 1:
            told = told[0]
        if isinstance(told, dict):
            self._check_members(pointer, told, frozenset({"target", "description", "meta"}))
            told = told.get("target")
        if isinstance(told, str) and (found := self._found(path, told)) in self.raws and found:
            return found
        if isinstance(told, str):
            self.fault(pointer, f"There is no state {told!r} here; name a sibling, .child or #id.")
        else:
            self.fault(pointer, "Name one target state.")
        return path

    def _found(self, path: str, told: str) -> str:
        if told.startswith("#"):
            own, _, rest = told[1:].partition(".")
            start = self.ids.get(own)
            return "#" if start is None else ".".join(filter(None, (start, rest)))
        start = path if told.startswith(".") else parent_of(path)
        return ".".join(filter(None, (start, told.removeprefix("."))))
