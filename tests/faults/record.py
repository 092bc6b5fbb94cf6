"""What the tool server outside wrote down: the only witness of effects that is not the product itself."""

import json
from pathlib import Path
from typing import NamedTuple


class Line(NamedTuple):
    """One request. `digest`: sha256 of its canonical body; `acted`: whether it changed the world."""

    serial: int
    at: float
    tool: str
    mode: str
    ref: str
    key: str
    digest: str
    acted: bool


def seen(folder: Path) -> list[Line]:
    """Every request so far; a line that is just being written is left for the next look."""
    text = (folder / "seen.jsonl").read_text() if (folder / "seen.jsonl").exists() else ""
    return [Line(**json.loads(line)) for line in text.split("\n")[:-1]]
