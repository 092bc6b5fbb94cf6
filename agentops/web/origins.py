"""Where the values of a call came from, as its page tells it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentops.web.display.fields import Field

FIRST_SHOWN = 12


@dataclass(frozen=True)
class Origin:
    """One value and the places where it stands, as `approvals.domain.provenance.trace` tells them."""

    field: Field
    found: Sequence[dict[str, Any]]

    @property
    def is_doubtful(self) -> bool:
        """Whether it stands in untrusted text and nowhere else."""
        return bool(self.found) and all(place.get("trust") == "untrusted" for place in self.found)


@dataclass(frozen=True)
class Origins:
    """The values of one call, doubtful ones first. `untraced`: how many say too little, or are too many."""

    rows: Sequence[Origin]
    untraced: int

    @property
    def first(self) -> Sequence[Origin]:
        """What is shown at once."""
        return self.rows[:FIRST_SHOWN]

    @property
    def rest(self) -> Sequence[Origin]:
        """What is folded."""
        return self.rows[FIRST_SHOWN:]

    @property
    def doubtful(self) -> int:
        """How many stand in untrusted text alone."""
        return sum(origin.is_doubtful for origin in self.rows)


def origins(fields: Sequence[Field], provenance: Any) -> Origins | None:
    """None for a request that was made before values were traced."""
    if provenance is None:
        return None
    by_pointer = {field.pointer: field for field in fields}
    rows = [Origin(by_pointer[traced["path"]], traced["found"]) for traced in provenance]
    return Origins(sorted(rows, key=lambda origin: not origin.is_doubtful), len(fields) - len(rows))
