"""What was measured, as a table for people and as JSON."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


@dataclass
class Report:
    """Rows in the order in which they were measured; each also goes to the terminal at once."""

    head: dict[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, what: str, figure: object, goal: str = "", note: str = "") -> None:
        """One figure."""
        self.rows.append({"what": what, "figure": figure, "goal": goal, "note": note})
        print(f"{what:<62} {figure!s:>28}  {goal}  {note}", flush=True)

    def write(self) -> Path:
        """Into the results' folder; the path of the table."""
        RESULTS.mkdir(exist_ok=True)
        name = time.strftime("%Y-%m-%d-%H%M%S")
        content = {"head": self.head, "rows": self.rows}
        (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2, default=str) + "\n")
        lines = [f"- {key}: {value}" for key, value in self.head.items()]
        lines += ["", "| what | figure | goal | note |", "|---|---|---|---|"]
        lines += [f"| {r['what']} | {r['figure']} | {r['goal']} | {r['note']} |" for r in self.rows]
        table = RESULTS / f"{name}.md"
        table.write_text("\n".join(lines) + "\n")
        return table
