"""What a kind hands back once the call was done."""

from dataclasses import dataclass
from typing import Any

from tools.domain.outcome import ToolFault


@dataclass(frozen=True, slots=True)
class Answer:
    """The tool acted: its value as exact JSON, or a fault when the answer cannot be read."""

    value: Any = None
    fault: ToolFault | None = None
