"""What the engine refuses, each named as the fact it states."""

from collections.abc import Sequence

from agentops.domain_error import DomainError
from tools.domain.errors import SpecFault


class RunError(DomainError):
    """The run cannot do this."""

    code = "run_error"


class IllegalTransition(RunError):
    """The state machine has no such transition."""

    code = "illegal_transition"


class RunNotFound(RunError):
    """There is no such run."""

    code = "not_found"


class StepNotFound(RunError):
    """There is no such step."""

    code = "not_found"


class RunFinished(RunError):
    """The run has ended; nothing resumes it."""

    code = "run_finished"


class UnknownAgent(RunError):
    """There is no such agent, or it is not enabled."""

    code = "unknown_agent"


class UnknownWorkflow(RunError):
    """There is no such workflow."""

    code = "unknown_workflow"


class InvalidRequest(RunError):
    """The request is not valid."""

    code = "invalid_request"


class _Faulty(InvalidRequest):
    """What was written is not valid."""

    def __init__(self, faults: Sequence[SpecFault]) -> None:
        errors = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
        first = f"{faults[0].pointer or '/'}: {faults[0].detail}" if faults else ""
        super().__init__(first, errors=errors)


class InvalidAgent(_Faulty):
    """The agent's definition is not valid."""

    code = "invalid_agent"


class InvalidBudget(_Faulty):
    """The budget is not valid."""

    code = "invalid_budget"


class AgentExists(RunError):
    """An agent with this slug exists already."""

    code = "agent_exists"


class AgentNotFound(RunError):
    """There is no such agent."""

    code = "not_found"


class AgentMoved(RunError):
    """The agent was changed by somebody else since it was read."""

    code = "agent_moved"


class BudgetAboveLimit(RunError):
    """A start may only lower the agent's limits."""

    code = "budget_above_limit"


class IdempotencyMismatch(RunError):
    """This idempotency key was used with another body."""

    code = "idempotency_mismatch"


class NotExternal(RunError):
    """Only a run with an external planner takes proposals."""

    code = "not_external"


class NotThePrincipal(RunError):
    """Only the principal that started the run may propose."""

    code = "not_the_principal"


class TurnOpen(RunError):
    """A turn is open; its steps must settle before the next one."""

    code = "turn_open"


class TooManyOpen(RunError):
    """Eight calls of the run are open; one must settle before the next."""

    code = "too_many_open"


class NoSuchTool(RunError):
    """There is no such tool."""

    code = "tool_denied"


class AgentUnnamed(RunError):
    """The tenant has not exactly one external agent: say which one calls."""

    code = "agent_unnamed"


class GrantRests(RunError):
    """The last run of this grant was stopped or used up its budget."""

    code = "grant_rests"


class NotHeld(RunError):
    """The call waits for nobody."""

    code = "not_held"


class TurnMoved(RunError):
    """The run is at another turn than the one named."""

    code = "turn_moved"


class NotUnknown(RunError):
    """Only a step with an unknown outcome can be reconciled."""

    code = "not_unknown"


class SaidAlready(RunError):
    """You said so already; a second person must look and say the same."""

    code = "said_already"


class TooEarlyToReconcile(RunError):
    """The call may still be on its way; it cannot be called failed yet."""

    code = "too_early"


class PlannerInvalid(RunError):
    """A finish stands alone, and a turn has 1 to 32 proposals."""

    code = "planner_invalid"
