"""Where an event leads: a flat machine by its own table, one that nests by python-statemachine."""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from tools.domain.machine import Machine, State, is_within

APART = ","
"""Between the places of a machine that is in several at once: `pay.sent,ship.packed`."""


def leaves(state: str) -> tuple[str, ...]:
    """The paths at which a machine in this state is."""
    return tuple(state.split(APART))


def is_in(state: str, path: str) -> bool:
    """Whether a machine in this state is in the one at `path`."""
    return any(is_within(leaf, path) for leaf in leaves(state))


def is_known(machine: Machine, state: str) -> bool:
    """Whether the machine has what `state` names; its states may have been renamed since."""
    found = [machine.states.get(leaf) for leaf in leaves(state)]
    return all(part is not None and part.is_leaf for part in found)


def is_final(machine: Machine, state: str, path: str = "") -> bool:
    """Whether it is over: a compound state in a final child of its own, a parallel one when each of its regions is."""
    inner = machine.states[path].children
    if machine.states[path].kind == "parallel":
        return all(is_final(machine, state, child) for child in inner)
    return any(machine.states[child].kind == "final" and is_in(state, child) for child in inner)


def initial_state(machine: Machine, path: str = "") -> str:
    """Where it begins."""
    state = machine.states[path]
    if state.is_leaf:
        return path
    inner = state.children if state.kind == "parallel" else (state.initial,)
    return APART.join(initial_state(machine, child) for child in inner)


def next_state(machine: Machine, state: str, event: str) -> str | None:
    """Where `event` leads from `state`; None when nothing there answers it."""
    if not is_known(machine, state) or is_final(machine, state):
        return None
    if machine.is_flat:
        return machine.states[state].on.get(event) or machine.root.on.get(event)
    return _nested(machine)(state, event)


@lru_cache(maxsize=128)
def _nested(machine: Machine) -> Callable[[str, str], str | None]:
    # Imported when the first machine that nests is met: it takes longer to load than all the rest of a worker's start.
    io, orderedset = import_module("statemachine.io"), import_module("statemachine.orderedset")
    models, exceptions = import_module("statemachine.model"), import_module("statemachine.exceptions")
    ids = {path: f"s{place}" for place, path in enumerate(machine.states)}
    events = {name: f"e{place}" for place, name in enumerate(_events(machine))}
    chart: Any = io.create_machine_class_from_definition(
        "Chart",
        states={ids[""]: {"initial": True, **_written(machine, machine.root, ids, events)}},
        allow_event_without_transition=False,
        validate_final_reachability=False,
        validate_trap_states=False,
        validate_disconnected_states=False,
    )

    def follow(state: str, event: str) -> str | None:
        model = models.Model()
        within = {part.path for leaf in leaves(state) for part in machine.line(leaf)}
        model.state = orderedset.OrderedSet(ids[path] for path in machine.states if path in within)
        running = chart(model=model)
        try:
            running.send(events.get(event, ""))
        except exceptions.TransitionNotAllowed:
            return None
        active = set(running.configuration_values)
        return APART.join(path for path, own in ids.items() if own in active and machine.states[path].is_leaf)

    return follow


def _events(machine: Machine) -> list[str]:
    return list(dict.fromkeys(event for state in machine.states.values() for event in state.on))


def _written(machine: Machine, state: State, ids: dict[str, str], events: dict[str, str]) -> dict[str, Any]:
    """The state as the library reads it. A transition to within a state does not leave that state, as in XState."""
    on = {events[event]: [_transition(machine, state, target, ids)] for event, target in state.on.items()}
    if state.done:
        on[f"done_state_{ids[state.path]}"] = [_transition(machine, state, state.done, ids)]
    inner = {ids[child]: _written(machine, machine.states[child], ids, events) for child in state.children}
    if state.initial:
        inner[ids[state.initial]]["initial"] = True
    told: dict[str, Any] = {"final": state.kind == "final", "parallel": state.kind == "parallel", "on": on}
    return told | ({"states": inner} if inner else {})


def _transition(machine: Machine, state: State, target: str, ids: dict[str, str]) -> dict[str, Any]:
    if target == state.path and state.kind == "compound":
        target = state.initial
    inside = target != state.path and is_within(target, state.path)
    return {"target": ids[target], "internal": inside}
