"""What time it is, in UTC."""

from django.utils import timezone
from pydantic import BaseModel

from tools.declare import ToolContext, tool


class CurrentTimeArgs(BaseModel):
    """Nothing is asked."""


class CurrentTimeResult(BaseModel):
    """RFC 3339 in UTC."""

    now: str


@tool(
    name="current_time",
    title="Current time",
    description="The current date and time in UTC.",
    risk="read",
    scope="builtin:read",
    timeout_ms=1000,
    volatile=True,
    output_trust="trusted",
)
def current_time(args: CurrentTimeArgs, ctx: ToolContext) -> CurrentTimeResult:
    """The clock of this host."""
    return CurrentTimeResult(now=f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}")
