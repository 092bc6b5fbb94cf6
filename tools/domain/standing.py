"""Where a handle of a workflow stands, and what that lets an agent see."""

from collections.abc import Iterable
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

    def admits(self, tool: str) -> bool:
        """Whether the tool may be seen and called here."""
        return self.spec.admits(tool, self.state)

    def way(self, tool: str) -> Way | None:
        """What a successful call of a bound tool does here."""
        return self.spec.way(tool, self.state)

    def busy_for(self, tool: str, step: UUID | None) -> bool:
        """Whether a call of another step, whose outcome is not known yet, keeps this tool from moving the handle."""
        way = self.way(tool)
        return self.taken_by not in (None, step) and way is not None and way.to is not None

    def told(self, tools: Iterable[str]) -> dict[str, Any]:
        """What an agent is told, out of the names of the tools that it may use in some state.

        `workflow, handle, state, revision, is_final, allowed, next`: the tools that may be called now, and of these
        the ones that move the handle, each with its event and the state that it leads to.
        """
        allowed = [tool for tool in sorted(tools) if self.admits(tool) and not self.busy_for(tool, None)]
        ways = [(tool, way) for tool in allowed if (way := self.way(tool)) is not None and way.to is not None]
        return {
            "workflow": self.name,
            "handle": self.handle,
            "state": self.state,
            "revision": self.revision,
            "is_final": self.is_final,
            "allowed": allowed,
            "next": [{"tool": tool, "event": way.event, "to": way.to} for tool, way in ways],
        }
