"""What a planner may answer, and what a refusal tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runs.domain.prompt import Prompt
from runs.domain.run import TerminalReason
from tools.domain.canonical import Json, canonical

MAX_PROPOSALS = 32
ENDS_RUN = "ends_run"
"""A refusal with this member ends its run with that reason, once no call is in flight."""


@dataclass(frozen=True)
class ToolProposal:
    """One call that the planner wants. `fault`: its arguments could not be read, so it will be refused."""

    tool: str
    args: Json
    call_id: str = ""
    why: str = ""
    again: int = 0
    fault: "Refusal | None" = None


@dataclass(frozen=True)
class Turn:
    """Calls proposed together; `memory` is what the planner wants to remember, as canonical JSON."""

    proposals: tuple[ToolProposal, ...]
    memory: str = ""


@dataclass(frozen=True)
class Finish:
    """The planner has its answer."""

    answer: str


@dataclass(frozen=True)
class GiveUp:
    """The planner cannot go on."""

    reason: TerminalReason
    message: str


@dataclass(frozen=True)
class Wait:
    """Nothing yet: somebody outside plans, or a later moment is waited for."""


@dataclass(frozen=True)
class Ask:
    """A model must be asked, outside any transaction. `max_output`: what the budgets leave for its answer.

    `tokens` and `money`: the most that it can take, to be reserved.
    """

    prompt: Prompt
    max_output: int
    tokens: int
    money: Decimal


type Answer = Turn | Finish | GiveUp | Wait | Ask


@dataclass(frozen=True)
class Refusal:
    """A typed, actionable error for the planner (contracts.md, Refusals)."""

    code: str
    message: str
    retryable: bool = False
    hint: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def stored(self) -> str:
        """Canonical JSON."""
        body = {"code": self.code, "message": self.message, "retryable": self.retryable, "hint": self.hint}
        return canonical({**self.extra, **body})
