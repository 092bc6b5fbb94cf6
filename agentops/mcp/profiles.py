"""How long each client bears to be held in one call (docs/mcp.md), by the name that it gives itself."""

from typing import Final

from agentops.env import env
from agentops.mcp.visit import Visit

EXECUTION_SECONDS: Final = 50.0
"""While only our own worker is awaited: under the sixty seconds after which most clients give up."""
LONGEST_POLL: Final = 50.0

_WITH_PROGRESS: Final = {
    "claude-code": 210.0,
    "codex": 210.0,
    "cursor": 50.0,
    "visual studio code": 50.0,
    "vscode": 50.0,
    "claude": 50.0,
    "copilot": 50.0,
    "gemini": 50.0,
}


def hold_seconds(visit: Visit) -> float:
    """For how long a call may wait for people. What the caller's configuration says wins."""
    if visit.hold is not None:
        return visit.hold
    name, usual = visit.client_name.lower(), env().agentops_mcp_hold_seconds
    known = (seconds for start, seconds in _WITH_PROGRESS.items() if name.startswith(start))
    return next(known, usual) if "progressToken" in visit.meta else usual


def poll_seconds(visit: Visit) -> float:
    """For how long `approval_wait` may wait at a time."""
    return min(LONGEST_POLL, hold_seconds(visit) or env().agentops_mcp_hold_seconds)
