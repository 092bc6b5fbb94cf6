"""What was measured, as a table for people and as JSON."""

import json
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers import scripted

RESULTS = Path(__file__).with_name("results")


@dataclass
class Report:
    """Rows in the order in which they were measured; each also goes to the terminal at once."""

    head: dict[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)
    contests: list[dict[str, Any]] = field(default_factory=list)

    def add(self, what: str, figure: object, goal: str = "", note: str = "") -> None:
        """One figure."""
        self.rows.append({"what": what, "figure": figure, "goal": goal, "note": note})
        print(f"{what:<62} {figure!s:>28}  {goal}  {note}", flush=True)

    def contest(self, name: str, at_once: int, figures: dict[str, float]) -> None:
        """The medians of one contestant, for the picture."""
        self.contests.append({"name": name, "at_once": at_once, "figures": figures})

    def write(self) -> Path:
        """The table, the same as JSON, and a picture of the contests, into the results' folder. The table's path."""
        RESULTS.mkdir(exist_ok=True)
        name = time.strftime("%Y-%m-%d-%H%M%S")
        content = {"head": self.head, "rows": self.rows, "contests": self.contests}
        (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2, default=str) + "\n")
        lines = [f"- {key}: {value}" for key, value in self.head.items()]
        lines += ["", "| what | figure | goal | note |", "|---|---|---|---|"]
        lines += [f"| {r['what']} | {r['figure']} | {r['goal']} | {r['note']} |" for r in self.rows]
        if self._draw(name):
            lines += ["", f"![the contests]({name}.svg)"]
        table = RESULTS / f"{name}.md"
        table.write_text("\n".join(lines) + "\n")
        return table

    def _draw(self, name: str) -> bool:
        if not self.contests:
            return False
        command = [
            *scripted(Path(__file__).with_name("plot.py")),
            str(RESULTS / f"{name}.json"),
            str(RESULTS / f"{name}.svg"),
        ]
        drawn = subprocess.run(command, capture_output=True, text=True, check=False)
        if drawn.returncode:
            print(f"no picture: {(drawn.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
        return drawn.returncode == 0
