# /// script
# requires-python = ">=3.12"
# dependencies = ["matplotlib>=3.9"]
# ///
"""Draws the contests of a result: `plot.py RESULT.json PICTURE.svg`. Runs in an environment that uv makes for it."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

PANELS = {
    "runs_s": "runs a second (more is better)",
    "cpu_ms": "CPU-ms a run (less is better)",
    "commits_step": "commits a step",
    "resume_ms": "decision to tool, p50 ms (less is better)",
}


def main() -> None:
    """One panel a figure, a bar a contestant, a colour for how many run at once."""
    result = json.loads(Path(sys.argv[1]).read_text())
    contests: list[dict[str, Any]] = result["contests"]
    names = list(dict.fromkeys(c["name"] for c in contests))
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    for axis, (key, title) in zip(axes.flat, PANELS.items(), strict=True):
        for place, at_once in enumerate(sorted({c["at_once"] for c in contests})):
            values = {c["name"]: c["figures"].get(key, 0) for c in contests if c["at_once"] == at_once}
            rows = [n + (place - 0.5) * 0.38 for n in range(len(names))]
            bars = axis.barh(rows, [values.get(name, 0) for name in names], 0.36, label=f"{at_once} at once")
            axis.bar_label(bars, fmt=lambda value: f"{value:g}" if value else "", padding=3, fontsize=8)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_title(title, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    axes.flat[0].legend(frameon=False, fontsize=8)
    head = result["head"]
    figure.suptitle(f"Five steps, one approval, one Postgres. {head['machine']}, Python {head['python']}", fontsize=11)
    figure.savefig(sys.argv[2])


main()
