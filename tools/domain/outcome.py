"""What became of a tool call: four outcomes, closed, each handled by `match`."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolFault:
    """A definite failure as the planner reads it; `retryable` speaks of a new try, not of a repeated one."""

    code: str
    message: str
    retryable: bool = False
    hint: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Keys `code, message, retryable, hint`."""
        return {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
        }


class ToolError(Exception):
    """Raised by a tool's author for a definite failure: nothing was changed, or what was changed is undone."""

    def __init__(self, code: str, message: str, retryable: bool = False, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.hint = hint

    @property
    def fault(self) -> ToolFault:
        return ToolFault(self.code, self.message, self.retryable, self.hint)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The call was done; `result_text` is the canonical text of `result`.

    `fault` is set when the effect is certain but the answer is not usable (see docs/decisions on unusable answers):
    the result is then null and the fault says what was wrong with the answer.
    """

    result: Any
    result_text: str
    fault: ToolFault | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call was definitely not done."""

    error: ToolFault


@dataclass(frozen=True, slots=True)
class Unknown:
    """The call may have been done; only a reconciliation can tell."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotSent:
    """Nothing left this process, and nothing was decided: the step may be handed back."""

    reason: str


type Outcome = Succeeded | Failed | Unknown | NotSent
