"""A workflow's page draws its states with their tools and handles, and a run's page where it stands."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from agentops.web.graph import Box, draw
from tests.cast import Cast, Person
from tests.domain.test_run_workflow_machines import REGIONS
from tests.runs.gates import INVOICE, Gate, new_gate
from tests.runs.scenario import new_stage
from tools.domain.workflow import parse_workflow

type Browse = Callable[[Person], Client]


@pytest.fixture
def gate(cast: Cast) -> Gate:
    return new_gate(new_stage(cast))


def test_without_any_the_list_says_what_a_workflow_is(cast: Cast, browse: Browse) -> None:
    page = browse(cast.bob).get("/workflows").content.decode()
    assert "No workflows yet" in page
    assert "New workflow" not in page
    assert "New workflow" in browse(cast.carol).get("/workflows").content.decode()


def test_the_list_counts_handles_by_state(gate: Gate, browse: Browse) -> None:
    gate.at("review")
    gate.run(handle="invoice:other")
    page = browse(gate.stage.cast.bob).get("/workflows").content.decode()
    assert set(re.findall(r'<span class="pill">(\w+ · \d)</span>', page)) == {"review · 1", "draft · 1"}


def test_a_workflow_is_drawn_with_its_tools_and_lists_its_handles(gate: Gate, browse: Browse) -> None:
    gate.at("review")
    page = browse(gate.stage.cast.bob).get("/workflows/invoice").content.decode()
    drawing = page.split('<svg class="machine workflow')[1].split("</svg>")[0]
    assert re.findall(r'class="tool"[^>]*>(\w+)<', drawing) == [
        "invoice_submit", "invoice_approve", "invoice_reject", "invoice_discharge",
    ]  # fmt: skip
    assert set(re.findall(r'class="event"[^>]*>(\w+)<', drawing)) == {"SUBMIT", "APPROVE", "REJECT", "DISCHARGE"}
    assert "review · 1" in drawing
    assert gate.handle in page.split('id="handles"')[1]
    assert gate.handle not in browse(gate.stage.cast.bob).get("/workflows/invoice?state=draft").content.decode()
    assert browse(gate.stage.cast.mallory).get("/workflows/invoice").status_code == 404


def test_a_run_shows_where_its_workflow_stands_and_the_way_it_went(gate: Gate, browse: Browse) -> None:
    run_id = gate.at("review")
    page = browse(gate.stage.cast.alice).get(f"/runs/{run_id}").content.decode()
    drawing = page.split('<svg class="machine workflow')[1].split("</svg>")[0]
    looks = dict(re.findall(r'<g class="(\w*) ?\w*">.*?<text [^>]*>(\w+)', drawing))
    assert looks == {"visited": "draft", "present": "review", "": "discharged"}
    assert drawing.count('class="walked"') == 1
    assert gate.handle in page
    other = gate.stage.start(gate.stage.external(), by=gate.stage.cast.service.actor)
    assert "machine workflow" not in browse(gate.stage.cast.alice).get(f"/runs/{other}").content.decode()


@pytest.mark.parametrize("machine", [INVOICE["machine"], REGIONS], ids=["flat", "nested"])
def test_no_state_is_drawn_over_another(machine: dict[str, object]) -> None:
    spec = parse_workflow({"name": "order", "machine": machine})
    graph = draw(spec)
    assert {box.path for box in graph.boxes} == {path for path in spec.chart.states if path}
    for one in graph.boxes:
        assert 0 <= one.x <= one.x + one.width <= graph.width
        for other in graph.boxes:
            within = one.path.startswith(f"{other.path}.") or other.path.startswith(f"{one.path}.")
            assert one is other or within or _apart(one, other), (one.path, other.path)


def _apart(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return beside or one.y + one.height <= other.y or other.y + other.height <= one.y
