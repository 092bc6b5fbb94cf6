"""A read that takes its time: shows waiting, cancelling and time limits."""

import time

from pydantic import BaseModel, Field

from tools.declare import ToolContext, tool
from tools.domain.outcome import ToolError

MAX_SECONDS = 120


class SlowReadArgs(BaseModel):
    """How long to wait."""

    seconds: int = Field(ge=0, le=MAX_SECONDS, description="Seconds to wait")


class SlowReadResult(BaseModel):
    """How long it really waited."""

    waited_seconds: int


@tool(
    name="slow_read",
    title="Slow read",
    description="Wait for a number of seconds and say how long it took. Can be cancelled at any moment.",
    risk="read",
    scope="builtin:read",
    timeout_ms=(MAX_SECONDS + 5) * 1000,
    volatile=True,
    output_trust="trusted",
)
def slow_read(args: SlowReadArgs, ctx: ToolContext) -> SlowReadResult:
    """Waits on the cancel signal, so a cancel ends it at once."""
    started = time.monotonic()
    if ctx.cancelled.wait(args.seconds):
        raise ToolError("cancelled", "The wait was cancelled.")
    return SlowReadResult(waited_seconds=round(time.monotonic() - started))
