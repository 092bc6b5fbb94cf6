"""Where a handle of a workflow stands, and what that lets an agent see."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from tools.domain.workflow import Way, WorkflowSpec


@dataclass(frozen=True, slots=True)
class Standing:
    """One handle now. `taken_by`: the step whose call, in flight or of unknown outcome, will move it."""

    spec: WorkflowSpec
    handle: str
    state: str
    revision: int
    updated_at: datetime
    taken_by: UUID | None = None

    @property
    def name(self) -> str:
        """The workflow's."""
        return self.spec.name

    @property
    def is_initial(self) -> bool:
        """Whether nothing was done yet, as far as the state tells: then short descriptions are enough."""
        return self.state == self.spec.initial

    @property
    def is_final(self) -> bool:
        return self.spec.is_final(self.state)

    def way(self, tool: str) -> Way | None:
        """What a successful call of a bound tool does here; None where it may not be called."""
        return self.spec.way(tool, self.state)

    def busy_for(self, tool: str, step: UUID | None) -> bool:
        """Whether a call of another step, whose outcome is not known yet, keeps this tool from moving the handle."""
        way = self.way(tool)
        return self.taken_by not in (None, step) and way is not None and way.to is not None

    def told(self, tools: Mapping[str, bool]) -> dict[str, Any]:
        """What an agent is told, out of the tools that it may use in some state, each with whether it is gated.

        `workflow, handle, state, revision, is_final, allowed, next`: the tools that may be called now, and of these
        the ones that move the handle, each with its event and the state that it leads to.
        """
        placed = {tool: self.way(tool) for tool, gated in tools.items() if gated and not self.busy_for(tool, None)}
        ways = {tool: way for tool, way in sorted(placed.items()) if way is not None}
        free = (tool for tool, gated in tools.items() if not gated)
        return {
            "workflow": self.name,
            "handle": self.handle,
            "state": self.state,
            "revision": self.revision,
            "is_final": self.is_final,
            "allowed": sorted([*free, *ways]),
            "next": [{"tool": tool, "event": way.event, "to": way.to} for tool, way in ways.items() if way.to],
        }


def nowhere(tools: Mapping[str, bool]) -> dict[str, Any]:
    """What an agent is told whose run has no workflow: the tools that are bound to no state."""
    allowed = sorted(tool for tool, gated in tools.items() if not gated)
    return {"workflow": None, "handle": None, "state": None, "revision": None, "is_final": False,
            "allowed": allowed, "next": []}  # fmt: skip
