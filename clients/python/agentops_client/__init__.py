"""A client for agents whose calls AgentOps governs."""

from agentops_client.client import AgentOps
from agentops_client.errors import AgentOpsError, CallFailed, Problem, Refused, StillWaiting, UnknownOutcome
from agentops_client.run import Run

__all__ = [
    "AgentOps",
    "AgentOpsError",
    "CallFailed",
    "Problem",
    "Refused",
    "Run",
    "StillWaiting",
    "UnknownOutcome",
]
