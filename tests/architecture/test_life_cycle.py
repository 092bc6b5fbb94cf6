"""The documented diagram, the transition tables and the database triggers say the same."""

import re
from itertools import product
from pathlib import Path

import pytest

from runs.domain import run, step
from runs.domain.errors import IllegalTransition
from runs.domain.run import RunEvent, RunStatus, TerminalReason, status_of
from runs.domain.step import StepEvent, StepStatus

ROOT = Path(__file__).resolve().parents[2]
PAIRS = re.compile(r"\('(\w+)',\s+'(\w+)'\)")


def test_the_documented_diagram_is_the_table_of_steps() -> None:
    text = (ROOT / "docs" / "call-life-cycle.md").read_text()
    drawn = set(re.findall(r"^    (\w+) --> (\w+)$", text, re.MULTILINE))
    assert drawn == {(a, b) for a, b in step.hops() if a != b}


@pytest.mark.parametrize(("guard", "hops"), [("RUN_GUARD", run.hops()), ("STEP_GUARD", step.hops())])
def test_the_trigger_of_the_migration_is_the_table(guard: str, hops: frozenset[tuple[str, str]]) -> None:
    source = (ROOT / "runs" / "migrations" / "0002_guards.py").read_text()
    body = source[source.index(f"{guard} =") :].split('"""')[1]
    assert set(PAIRS.findall(body)) == {(a, b) for a, b in hops if a != b}


@pytest.mark.parametrize(("status", "event"), list(product(StepStatus, StepEvent)))
def test_every_step_event_leads_where_the_table_says_or_is_refused(status: StepStatus, event: StepEvent) -> None:
    sources, target = step.TRANSITIONS[event]
    if status in sources:
        assert step.after(status, event) is target
    else:
        with pytest.raises(IllegalTransition):
            step.after(status, event)


@pytest.mark.parametrize(("status", "event"), list(product(RunStatus, RunEvent)))
def test_every_run_event_leads_where_the_table_says_or_is_refused(status: RunStatus, event: RunEvent) -> None:
    sources, target = run.TRANSITIONS[event]
    if status in sources:
        assert run.after(status, event) is target
    else:
        with pytest.raises(IllegalTransition):
            run.after(status, event)


def test_what_is_final_is_what_no_row_leaves() -> None:
    assert {s.value for s in run.FINAL} == {"succeeded", "failed", "cancelled", "exhausted"}
    assert {s.value for s in step.FINAL} == {
        "refused", "rejected", "expired", "withdrawn", "answered", "succeeded", "failed"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], "planning"),
        (["succeeded", "refused"], "planning"),
        (["held"], "awaiting_approval"),
        (["held", "cleared"], "executing"),
        (["held", "running"], "executing"),
        (["held", "unknown"], "observing"),
        (["stale", "unknown"], "validating"),
        (["running", "unknown"], "executing"),
    ],
)
def test_the_status_of_a_run_is_a_function_of_its_steps(steps: list[str], expected: str) -> None:
    assert status_of(StepStatus(s) for s in steps).value == expected


@pytest.mark.parametrize("reason", list(TerminalReason))
def test_each_reason_has_its_status(reason: TerminalReason) -> None:
    expected = {"completed": "succeeded", "cancelled_by_user": "cancelled"}.get(reason.value)
    if expected is None:
        expected = "exhausted" if reason.value.endswith("_budget") else "failed"
    assert run.event_of(reason).value == expected
