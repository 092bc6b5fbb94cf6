"""What one run of one call should be, whatever workers, clocks and people do to it."""

from dataclasses import dataclass

from runs.operations.advancing import Execute
from runs.operations.claiming import Claimed
from tests.runs.world import Told, Transfer
from tools.declare import ToolContext, tool
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, Unknown

MAX_ATTEMPTS = 3
_ONCE: dict[str, int] = {}


@tool(name="m_once", description="Acts once for a key.", risk="destructive", scope="ledger:write", idempotency="native",
      output_trust="trusted")  # fmt: skip
def m_once(args: Transfer, ctx: ToolContext) -> Told:
    _ONCE[ctx.idempotency_key] = _ONCE.get(ctx.idempotency_key, 0) + 1
    return Told(done=1)


@dataclass
class Model:
    """What one run should be: one call, the number of its lease, and whether somebody wants the run to stop.

    `in_doubt`: an attempt at its change was lost, so that what a later one says of itself is not all.
    """

    tool: str
    status: str
    token: int = 0
    stopping: bool = False
    is_over: bool = False
    acted: int = 0
    in_doubt: bool = False

    def lease_ends(self) -> None:
        """Made again where that is safe and not too often; else a read has failed, and of the rest nobody knows."""
        if self._is_made_again():
            self.token += 1
            self.in_doubt = self.tool == "m_once"
            return
        self.status = "failed" if self.tool == "t_read" else "unknown"
        self.is_over = self.stopping

    def settles(self, outcome: Outcome) -> None:
        """The holder of the lease reports; what it hands back, it takes up again at once."""
        if self.in_doubt and isinstance(outcome, Failed | NotSent):
            outcome = Unknown("")
        if isinstance(outcome, Unknown) and self._is_made_again():
            self.in_doubt = True
            return
        if isinstance(outcome, NotSent) and not self.stopping:
            self.token += 1
            return
        self.status = {Succeeded: "succeeded", Failed: "failed", NotSent: "withdrawn", Unknown: "unknown"}[
            type(outcome)
        ]
        self.is_over = self.stopping

    def is_cancelled(self) -> None:
        """At once, unless a call is in flight."""
        self.stopping = True
        if self.status in {"held", "cleared"}:
            self.status = "withdrawn"
        self.is_over = self.status != "running"

    def _is_made_again(self) -> bool:
        return self.tool != "t_pay_plain" and self.token < MAX_ATTEMPTS and not self.stopping


@dataclass
class Report:
    """A worker that has claimed a call and not yet said what became of it."""

    place: int
    found: Execute
    outcome: Outcome | None = None

    @property
    def call(self) -> Claimed:
        return self.found.call
