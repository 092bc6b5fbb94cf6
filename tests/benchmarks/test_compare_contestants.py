"""How the figures of a contest come together: rounds to medians, processes to sums, and ours beside theirs."""

import pytest

from benchmarks.report import Report
from benchmarks.throughput import LEAN, OURS, Found, compare, compete, together


def told(runs_s: float, cpu_ms: float = 10.0, p50: float = 5.0) -> Found:
    return {"runs_s": runs_s, "steps_s": 5 * runs_s, "cpu_ms": cpu_ms, "memory_mb": 100.0,
            "resume_ms": {"p50": p50, "p99": 9.0, "n": 3}}  # fmt: skip


def test_the_median_of_the_rounds_counts_and_who_could_not_run_is_named() -> None:
    report = Report({})
    answers: dict[str, list[Found]] = {OURS: [told(10), told(90), told(20)], LEAN: ["no such library"] * 3}
    medians = compete(report, [OURS, LEAN], 16, 3, lambda name, _: answers[name].pop(0))
    assert medians == {OURS: {"runs_s": 20, "steps_s": 100, "cpu_ms": 10, "resume_ms": 5, "memory_mb": 100}}
    assert [row["note"] for row in report.rows if row["figure"] == "not measured"] == ["no such library"] * 3
    assert report.contests == [{"name": OURS, "at_once": 16, "figures": medians[OURS]}]


def test_processes_side_by_side_are_summed_and_one_that_fails_fails_all() -> None:
    assert together([told(10, p50=4), told(12, p50=6)]) == {"runs_s": 22, "steps_s": 110, "resume_ms": {"p50": 6}}
    assert together([told(10), "it broke"]) == "it broke"


@pytest.mark.parametrize(("theirs", "figure"), [({LEAN: {"cpu_ms": 20.0}}, [1.5]), ({}, [])])
def test_only_what_both_measured_is_compared(theirs: dict[str, dict[str, float]], figure: list[float]) -> None:
    report = Report({})
    compare(report, {OURS: {"cpu_ms": 30.0, "runs_s": 40.0}, **theirs})
    assert [row["figure"] for row in report.rows] == figure
