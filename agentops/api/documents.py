"""What answers look like, for the OpenAPI document. The renderers beside the resources fill them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from approvals.domain.decision import RequestStatus
from runs.domain.run import RunStatus, TerminalReason
from runs.domain.step import StepStatus

type JsonObject = dict[str, Any]


class Shown(BaseModel):
    """What an answer holds at least."""

    model_config = ConfigDict(extra="allow")


class Fault(Shown):
    """One thing wrong with a request: where, and a sentence."""

    pointer: str
    detail: str


class Problem(Shown):
    """A refusal, RFC 9457. Some codes add members of their own."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[Fault] = Field(default_factory=list)


class Budget(Shown):
    """Figures by budget key; a key that is missing in `limit` is not limited."""

    limit: JsonObject
    used: JsonObject
    reserved: JsonObject


class RunDocument(Shown):
    """A run."""

    id: UUID
    agent: str
    task: str
    status: RunStatus
    terminal_reason: TerminalReason | None
    turns: int
    budget: Budget
    tainted: bool
    workflow: None
    created_at: datetime
    finished_at: datetime | None
    answer: str | None
    open_approvals: list[UUID]


class AttemptDocument(Shown):
    """One try to execute a step; the outcome is null while it lasts."""

    number: int
    outcome: str | None
    started_at: datetime
    finished_at: datetime | None


class ObservationDocument(Shown):
    """What the planner reads of a step."""

    trust: str
    content: str
    truncated: bool
    bytes: int


class StepDocument(Shown):
    """A step. `args` are exact; secret leaves are tags."""

    id: UUID
    turn: int
    index: int
    kind: str
    status: StepStatus
    tool: str
    tool_version: int | None
    args: Any
    fingerprint: str | None
    idempotency_key: str | None
    refusal: JsonObject | None
    approval: UUID | None
    attempts: list[AttemptDocument]
    observation: ObservationDocument | None
    created_at: datetime
    settled_at: datetime | None


class EventDocument(Shown):
    """One entry of a run's hash chain."""

    seq: int
    kind: str
    actor: str
    at: datetime
    data: Any
    hash: str
    prev_hash: str


class TurnDocument(Shown):
    """What became of one answer of an external planner."""

    turn: int
    steps: list[StepDocument]
    run: RunDocument


class ConditionDocument(Shown):
    """A condition: its value when proposed and when read last. `ok` is null while it is not known."""

    name: str
    before: Any
    now: Any
    ok: bool | None
    checked_at: datetime | None = None


class QuorumDocument(Shown):
    """Votes needed and given."""

    needed: int
    given: int


class ApprovalDocument(Shown):
    """A request for a person's decision. `canonical` is the text that `digest` binds, among other things."""

    id: UUID
    run: UUID
    step: UUID
    tool: str
    tool_version: int
    risk: str
    args: Any
    canonical: str
    digest: str
    reasons: list[str]
    preconditions: list[ConditionDocument]
    provenance: list[Any]
    budget_effect: JsonObject
    opened_at: datetime
    expires_at: datetime
    quorum: QuorumDocument
    can_decide: bool
    cannot_because: str | None
    status: RequestStatus
    superseded_by: UUID | None


class DecisionDocument(Shown):
    """A recorded decision and where the request stands after it."""

    id: UUID
    approval: ApprovalDocument
    status: RequestStatus
    quorum: QuorumDocument


class ToolDocument(Shown):
    """A tool with its current definition, the fields of which stand beside these."""

    name: str
    version: int
    version_id: UUID
    content_hash: str
    enabled: bool
    quarantined: bool
    revision: int
    updated_at: datetime
    kind: str
    risk: str


class ToolVersionDocument(Shown):
    """One immutable version of a tool."""

    id: UUID
    version: int
    content_hash: str
    schema_hash: str
    current: bool
    created_by: str
    created_at: datetime
    definition: JsonObject


class DryRunDocument(Shown):
    """What a try of a tool showed: faults of the arguments, a read's outcome, or what a change would have sent."""

    tool: str
    version: int
    errors: list[Fault]
    outcome: str | None
    would_send: JsonObject | None
    refused: JsonObject | None


class AgentDocument(Shown):
    """An agent with its current version."""

    slug: str
    name: str
    description: str
    enabled: bool
    version: int
    planner: Literal["playbook", "external"]
    tools: list[str]
    playbook: Any
    budget: JsonObject


class RunList(Shown):
    """One page of runs."""

    results: list[RunDocument]
    next: str | None
    count: int | None


class StepList(Shown):
    """Every step of a run."""

    results: list[StepDocument]
    next: str | None
    count: int | None


class EventList(Shown):
    """Events of a run."""

    results: list[EventDocument]
    next: str | None
    count: int | None


class ApprovalList(Shown):
    """One page of requests."""

    results: list[ApprovalDocument]
    next: str | None
    count: int | None


class ToolList(Shown):
    """One page of tools."""

    results: list[ToolDocument]
    next: str | None
    count: int | None


class ToolVersionList(Shown):
    """The versions of a tool, newest first."""

    results: list[ToolVersionDocument]
    next: str | None
    count: int | None


class AgentList(Shown):
    """Every agent."""

    results: list[AgentDocument]
    next: str | None
    count: int | None
