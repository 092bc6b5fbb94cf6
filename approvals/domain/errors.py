"""What the gate refuses, each named as the fact it states."""

from collections.abc import Sequence

from agentops.domain_error import DomainError
from tools.domain.errors import SpecFault


class GateError(DomainError):
    """The gate refuses this."""

    code = "gate_error"


class ApprovalNotFound(GateError):
    """There is no such approval request."""

    code = "not_found"


class PeopleOnly(GateError):
    """Only people decide; a service account's or an agent's key never does."""

    code = "people_only"


class NotForAgents(GateError):
    """A key that decides may not propose: an agent that holds it could approve itself."""

    code = "not_for_agents"


class NotAnApprover(GateError):
    """You are not one of those who may decide this request."""

    code = "not_an_approver"


class SelfApproval(GateError):
    """You asked for this, or it was asked on your behalf; somebody else must decide."""

    code = "self_approval"


class AlreadyDecided(GateError):
    """The request was decided already."""

    code = "already_decided"


class Expired(GateError):
    """The request has expired; nothing was decided in time."""

    code = "expired"


class DigestMismatch(GateError):
    """What you saw is not what the request holds now; open it again."""

    code = "digest_mismatch"


class PreconditionChanged(GateError):
    """The world has changed since this was proposed; it was asked again."""

    code = "precondition_changed"


class VerdictUnsupported(GateError):
    """This verdict is not available; approve or reject."""

    code = "verdict_unsupported"


class InvalidDecision(GateError):
    """The decision is not valid."""

    code = "invalid_request"


class RecheckTooSoon(GateError):
    """The conditions were read a moment ago; wait before reading them again."""

    code = "too_many_requests"


class InvalidPolicy(GateError):
    """The policy is not valid."""

    code = "invalid_policy"

    def __init__(self, faults: Sequence[SpecFault]) -> None:
        errors = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
        first = f"{faults[0].pointer or '/'}: {faults[0].detail}" if faults else ""
        super().__init__(first, errors=errors)


class PolicyMoved(GateError):
    """The policy was changed by somebody else since it was read."""

    code = "policy_moved"
