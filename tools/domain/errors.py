"""What can be wrong with a tool, as facts that a door may show."""

from dataclasses import dataclass

from agentops.domain_error import DomainError


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One thing wrong with a definition: a JSON pointer into it and a sentence."""

    pointer: str
    detail: str


class _InvalidDefinition(DomainError):
    """The definition is not valid."""

    def __init__(self, faults: list[SpecFault]) -> None:
        self.faults = faults
        errors = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
        super().__init__(faults[0].detail if faults else "", errors=errors)


class InvalidTool(_InvalidDefinition):
    """The tool's definition is not valid."""

    code = "invalid_tool"


class InvalidWorkflow(_InvalidDefinition):
    """The workflow's definition is not valid."""

    code = "invalid_workflow"


class ToolNameTaken(DomainError):
    """A tool of this name exists already."""

    code = "tool_name_taken"


class ToolRenamed(DomainError):
    """A tool keeps its name for good: register another one instead."""

    code = "tool_renamed"


class ToolNotFound(DomainError):
    """There is no such tool."""

    code = "tool_not_found"


class ToolMoved(DomainError):
    """The tool was changed by somebody else since it was read."""

    code = "tool_moved"


class WorkflowNameTaken(DomainError):
    """A workflow of this name exists already."""

    code = "workflow_name_taken"


class WorkflowRenamed(DomainError):
    """A workflow keeps its name for good: register another one instead."""

    code = "workflow_renamed"


class WorkflowNotFound(DomainError):
    """There is no such workflow."""

    code = "workflow_not_found"


class WorkflowChanged(DomainError):
    """The workflow was changed by somebody else since it was read."""

    code = "workflow_changed"


class StateMoved(DomainError):
    """The handle is not at this revision any more."""

    code = "state_moved"


class CredentialNotFound(DomainError):
    """There is no credential of this name."""

    code = "credential_not_found"


class InvalidCredential(DomainError):
    """The credential cannot be stored as given."""

    code = "invalid_credential"


class InvalidExpression(DomainError):
    """The expression cannot be compiled."""

    code = "invalid_expression"


class ExpressionFailed(DomainError):
    """The expression could not be evaluated on these values."""

    code = "expression_failed"


class CostUnreadable(DomainError):
    """What the call costs cannot be read where the tool says it stands."""

    code = "invalid_arguments"
