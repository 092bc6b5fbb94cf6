"""Where events lead in workflows: flat ones by their table, nested ones as XState and SCXML have it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.domain.errors import InvalidWorkflow
from tools.domain.machine import Machine, read_machine
from tools.domain.statechart import _nested, initial_state, is_final, next_state
from tools.domain.workflow import parse_workflow

REGIONS: dict[str, Any] = {
    "initial": "open",
    "on": {"RESET": ".open"},
    "states": {
        "open": {"on": {"SEND": {"target": "#order.going"}}},
        "going": {
            "type": "parallel",
            "onDone": "done",
            "on": {"AGAIN": ".pay.due"},
            "states": {
                "pay": {
                    "initial": "due",
                    "on": {"REFUND": ".due"},
                    "states": {"due": {"on": {"PAY": "paid"}}, "paid": {"on": {"BOOK": "booked"}},
                               "booked": {"type": "final"}},
                },
                "ship": {
                    "initial": "packed",
                    "states": {"packed": {"on": {"SHIP": "shipped"}}, "shipped": {"type": "final"}},
                },
            },
        },
        "done": {"type": "final"},
    },
}  # fmt: skip


def _order() -> Machine:
    return parse_workflow({"name": "order", "machine": REGIONS}).chart


@pytest.mark.parametrize(
    ("state", "event", "to"),
    [
        ("open", "SEND", "going.pay.due,going.ship.packed"),
        ("open", "PAY", None),
        ("going.pay.due,going.ship.packed", "PAY", "going.pay.paid,going.ship.packed"),
        ("going.pay.due,going.ship.packed", "SHIP", "going.pay.due,going.ship.shipped"),
        ("going.pay.paid,going.ship.shipped", "REFUND", "going.pay.due,going.ship.shipped"),
        ("going.pay.paid,going.ship.shipped", "AGAIN", "going.pay.due,going.ship.packed"),
        ("going.pay.paid,going.ship.shipped", "BOOK", "done"),
        ("going.pay.paid,going.ship.packed", "RESET", "open"),
        ("done", "RESET", None),
        ("nowhere", "RESET", None),
    ],
)
def test_an_event_leads_where_xstate_says(state: str, event: str, to: str | None) -> None:
    assert next_state(_order(), state, event) == to


def test_a_bound_tool_is_there_within_a_state_that_holds_others() -> None:
    bindings = [
        {"tool": "look", "states": ["going"]},
        {"tool": "ship", "states": ["going"], "transition": "SHIP"},
        {"tool": "pay", "states": ["going.pay.due"], "transition": "PAY"},
    ]
    spec = parse_workflow({"name": "order", "machine": REGIONS, "bindings": bindings})
    both, shipped = "going.pay.due,going.ship.packed", "going.pay.due,going.ship.shipped"
    there = {tool for tool in spec.bound if spec.way(tool, both)}
    assert there == {"look", "ship", "pay"}
    # A tool whose transition nothing answers now would run and move nothing.
    assert {tool for tool in spec.bound if spec.way(tool, shipped)} == {"look", "pay"}
    assert not any(spec.way(tool, "open") for tool in spec.bound)


@pytest.mark.parametrize(
    ("machine", "pointer", "says"),
    [
        ({"initial": "a", "states": {"a": {"entry": "x"}}}, "/machine/states/a/entry", "Actions are not run"),
        ({"initial": "a", "states": {"a": {"invoke": {}}}}, "/machine/states/a/invoke", "bind a tool"),
        ({"initial": "a", "states": {"a": {"always": "b"}}}, "/machine/states/a/always", "name an event"),
        ({"initial": "a", "context": {}, "states": {"a": {}}}, "/machine/context", "no data"),
        ({"initial": "a", "states": {"a": {"type": "history"}}}, "/machine/states/a/type", "History"),
        ({"initial": "a", "states": {"a": {"on": {"*": "a"}}}}, "/machine/states/a/on/*", "Name one event"),
        ({"initial": "a", "states": {"a": {"on": {"E": "b"}}}}, "/machine/states/a/on/E", "There is no state 'b'"),
        ({"initial": "a", "states": {"a": {"on": {"E": []}}}}, "/machine/states/a/on/E", "Name one target"),
        ({"initial": "a", "states": {"a": {"type": "final", "on": {"E": "a"}}}}, "/machine/states/a/on", "final"),
        ({"states": {"a": {}}}, "/machine/initial", "Say in which of its states it begins: a."),
        ({"initial": "a", "states": {"a.b": {}}}, "/machine/states/a.b", "without a dot"),
        ({"initial": "a", "states": {"a": {"states": {"b": {}}}}}, "/machine/states/a/initial", "begins: b"),
        ({"initial": "a", "states": {"a": {"type": "parallel"}}}, "/machine/states/a/states", "add one"),
        ({"initial": "a", "states": {"a": {"stats": {}}}}, "/machine/states/a/stats", "not known"),
        ({"initial": "a", "states": {"a": 5}}, "/machine/states/a", "an object"),
        ({}, "/machine/states", "add one"),
    ],
)
def test_what_a_machine_cannot_hold_is_refused_where_it_stands(machine: Any, pointer: str, says: str) -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        parse_workflow({"name": "w", "machine": machine})
    assert [f for f in refused.value.faults if f.pointer == pointer and says in f.detail], refused.value.faults


def test_a_binding_to_nothing_is_refused_and_says_what_may_be_meant() -> None:
    bindings = [
        {"tool": "t", "states": ["pay"]},
        {"tool": "t", "states": ["open"], "transition": "PAY"},
        {"tool": "t", "states": ["open"], "transition": "SEND"},
    ]
    with pytest.raises(InvalidWorkflow) as refused:
        parse_workflow({"name": "order", "machine": REGIONS, "bindings": bindings})
    assert [(f.pointer, f.detail) for f in refused.value.faults] == [
        ("/bindings/0/states/0", "There is no state 'pay'. Is it going.pay?"),
        ("/bindings/1/states/0", "Nothing in open answers PAY: add it to `on`, or bind without a transition."),
        ("/bindings/2/states/0", "Another binding has t in open already."),
    ]


_STATES = ["a", "b", "c", "d"]
_EVENTS = ["E", "F", "G"]
_ON = st.dictionaries(st.sampled_from(_EVENTS), st.sampled_from(_STATES), max_size=3)
_MACHINES = st.fixed_dictionaries(
    {
        "initial": st.sampled_from(_STATES),
        "on": st.dictionaries(st.sampled_from(_EVENTS), st.sampled_from([f".{s}" for s in _STATES]), max_size=1),
        "states": st.fixed_dictionaries(
            {name: _ON.map(lambda on: {"on": on}) | st.just({"type": "final"}) for name in _STATES}
        ),
    }
)


@given(_MACHINES, st.lists(st.sampled_from(_EVENTS), max_size=8))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_table_of_a_flat_machine_says_what_the_library_says(raw: dict[str, Any], events: list[str]) -> None:
    machine, faults = read_machine(raw, "m")
    assert (faults, machine.is_flat) == ([], True)
    library, state = _nested(machine), initial_state(machine)
    for event in events:
        # The library is given the machine as one state of its own, so that what is over is ours to say.
        expected = None if is_final(machine, state) else library(state, event)
        assert next_state(machine, state, event) == expected
        state = expected or state
