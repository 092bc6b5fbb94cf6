"""What every refusal is over HTTP: each typed error's status and title, said once for all doors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from agentops.domain_error import DomainError
from agentops.tenancy import errors as tenancy
from approvals.domain import errors as gate
from runs.domain import errors as engine
from tools.domain import errors as tools
from tools.domain import errors_values as values

_STATUS: Mapping[type[DomainError], HTTPStatus] = {
    DomainError: HTTPStatus.BAD_REQUEST,
    tenancy.KeyRejected: HTTPStatus.UNAUTHORIZED,
    tenancy.NotAMember: HTTPStatus.FORBIDDEN,
    tenancy.ScopeMissing: HTTPStatus.FORBIDDEN,
    tenancy.ScopeNotGrantable: HTTPStatus.FORBIDDEN,
    tenancy.KeyNotFound: HTTPStatus.NOT_FOUND,
    tenancy.ServiceAccountNotFound: HTTPStatus.NOT_FOUND,
    tenancy.LastOwner: HTTPStatus.CONFLICT,
    tools.ToolNotFound: HTTPStatus.NOT_FOUND,
    tools.ToolNameTaken: HTTPStatus.CONFLICT,
    tools.ToolMoved: HTTPStatus.CONFLICT,
    tools.WorkflowNotFound: HTTPStatus.NOT_FOUND,
    tools.WorkflowNameTaken: HTTPStatus.CONFLICT,
    tools.WorkflowChanged: HTTPStatus.CONFLICT,
    engine.RunNotFound: HTTPStatus.NOT_FOUND,
    engine.StepNotFound: HTTPStatus.NOT_FOUND,
    engine.RunFinished: HTTPStatus.CONFLICT,
    engine.IllegalTransition: HTTPStatus.CONFLICT,
    engine.IdempotencyMismatch: HTTPStatus.UNPROCESSABLE_ENTITY,
    engine.AgentExists: HTTPStatus.CONFLICT,
    engine.AgentMoved: HTTPStatus.CONFLICT,
    engine.AgentNotFound: HTTPStatus.NOT_FOUND,
    engine.NotExternal: HTTPStatus.CONFLICT,
    engine.NotThePrincipal: HTTPStatus.FORBIDDEN,
    engine.TurnOpen: HTTPStatus.CONFLICT,
    engine.TurnMoved: HTTPStatus.CONFLICT,
    engine.TooManyOpen: HTTPStatus.CONFLICT,
    engine.NoSuchTool: HTTPStatus.NOT_FOUND,
    engine.GrantRests: HTTPStatus.CONFLICT,
    engine.NotHeld: HTTPStatus.CONFLICT,
    engine.NotUnknown: HTTPStatus.CONFLICT,
    engine.TooEarlyToReconcile: HTTPStatus.CONFLICT,
    engine.SaidAlready: HTTPStatus.CONFLICT,
    gate.ApprovalNotFound: HTTPStatus.NOT_FOUND,
    gate.PeopleOnly: HTTPStatus.FORBIDDEN,
    gate.NotForAgents: HTTPStatus.FORBIDDEN,
    gate.NotAnApprover: HTTPStatus.FORBIDDEN,
    gate.SelfApproval: HTTPStatus.FORBIDDEN,
    gate.AlreadyDecided: HTTPStatus.CONFLICT,
    gate.Expired: HTTPStatus.GONE,
    gate.DigestMismatch: HTTPStatus.CONFLICT,
    gate.PreconditionChanged: HTTPStatus.CONFLICT,
    gate.PolicyMoved: HTTPStatus.CONFLICT,
    gate.VerdictUnsupported: HTTPStatus.UNPROCESSABLE_ENTITY,
    gate.RecheckTooSoon: HTTPStatus.TOO_MANY_REQUESTS,
}
_RESERVED = frozenset({"type", "title", "status", "detail", "code"})


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal as RFC 9457 has it."""

    status: int
    code: str
    detail: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase

    def body(self) -> dict[str, Any]:
        """The members of the problem document."""
        known = {
            "type": f"urn:agentops:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        return {**{name: value for name, value in self.more.items() if name not in _RESERVED}, **known}


def problem_of(error: DomainError) -> Problem:
    """What a door answers; an error that no line above names is a bad request, by its nearest parent's line."""
    status = next(_STATUS[cls] for cls in type(error).__mro__ if cls in _STATUS)
    return Problem(status=status, code=_code(error), detail=error.message, more=_more(error))


def _more(error: DomainError) -> dict[str, Any]:
    """The error's details; one place and sentence become a list of one, as clients expect them."""
    more = dict(error.details)
    pointer, detail = more.pop("pointer", None), more.pop("detail", None)
    return more if pointer is None else more | {"errors": [{"pointer": pointer, "detail": detail or error.message}]}


def _code(error: DomainError) -> str:
    """Faults of the JSON text itself are faults of the request, wherever they were found."""
    return "invalid_request" if isinstance(error, values.InvalidJson) else error.code
