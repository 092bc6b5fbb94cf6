"""Five steps and one approval, again and again: contestants take turns, the median of the rounds counts."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.report import Report

type Found = dict[str, Any] | str
"""What a contestant reported, or why it did not."""
OURS, LEAN, PAIR, DBOS = "AgentOps", "LangGraph", "LangGraph, two processes", "DBOS"
COLUMNS = {
    "runs_s": "runs/s",
    "steps_s": "steps/s",
    "cpu_ms": "CPU-ms a run",
    "commits_step": "commits a step",
    "resume_ms": "decision to tool, p50 ms",
    "memory_mb": "memory, MB of PSS",
}


def compete(
    report: Report, names: Sequence[str], at_once: int, rounds: int, run: Callable[[str, int], Found]
) -> dict[str, dict[str, float]]:
    """Measure each of `names` in each round. Returns the medians of those that could be measured."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for name in names:
            got = run(name, at_once)
            if isinstance(got, str):
                report.add(f"{name}, {at_once} at once", "not measured", note=got[:150])
            else:
                found.setdefault(name, []).append(_plain(got))
    medians = {name: _medians(measured) for name, measured in found.items()}
    for name, figures in medians.items():
        told = ", ".join(f"{label} {figures[key]:g}" for key, label in COLUMNS.items() if key in figures)
        spread = [figures["cpu_ms"] for figures in found[name]] if "cpu_ms" in figures else []
        report.add(f"{name}, {at_once} at once", figures["runs_s"], note=f"{told}; CPU-ms of each round {spread}")
        report.contest(name, at_once, figures)
    return medians


def compare(report: Report, medians: dict[str, dict[str, float]]) -> None:
    """Ours beside the others', where both were measured."""
    ours = medians.get(OURS, {})
    for what, key, other, goal in (
        ("CPU of a run against LangGraph's", "cpu_ms", LEAN, "<= 1.0"),
        ("runs/s against LangGraph in two processes", "runs_s", PAIR, ">= 1.5"),
        ("runs/s against DBOS", "runs_s", DBOS, ">= 2"),
    ):
        if key in ours and key in medians.get(other, {}):
            report.add(what, round(ours[key] / medians[other][key], 2), goal)


def together(found: Iterable[Found]) -> Found:
    """Several processes of one contestant, side by side. What they share was measured by each, so it is left out."""
    parts: list[dict[str, Any]] = []
    for part in found:
        if isinstance(part, str):
            return part
        parts.append(part)
    sums = {key: round(sum(part[key] for part in parts), 1) for key in ("runs_s", "steps_s")}
    return {**sums, "resume_ms": {"p50": max(part["resume_ms"]["p50"] for part in parts)}}


def _plain(got: dict[str, Any]) -> dict[str, Any]:
    return got | {"resume_ms": got["resume_ms"]["p50"]}


def _medians(rounds: list[dict[str, Any]]) -> dict[str, float]:
    return {key: statistics.median(r[key] for r in rounds) for key in COLUMNS if all(key in r for r in rounds)}
