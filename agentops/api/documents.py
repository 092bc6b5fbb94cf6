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


class WorkflowStanding(Shown):
    """Where a run's workflow stands."""

    name: str
    handle: str
    state: str
    revision: int


class RunDocument(Shown):
    """A run. `input` has a mark ⟦secret …⟧ for each secret, equal where the secrets are."""

    id: UUID
    agent: str
    task: str
    status: RunStatus
    terminal_reason: TerminalReason | None
    turns: int
    budget: Budget
    tainted: bool
    workflow: WorkflowStanding | None
    created_at: datetime
    finished_at: datetime | None
    answer: str | None
    open_approvals: list[UUID]
    trace_id: str


class AttemptDocument(Shown):
    """One try to execute a step; the outcome is null while it lasts. `sandbox_level`: of a command that has ended."""

    number: int
    outcome: str | None
    sandbox_level: int | None
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


class PlaceDocument(Shown):
    """Where a value stands. `at`: a JSON pointer into the task, the input or the observation of an earlier step.

    `match`: the place is the value itself, has it within, or is itself held by the value. `exact`: spelled in the same
    way, not only alike. `text` is the passage, at most 200 characters of it.
    """

    source: Literal["task", "input", "observation"]
    step: UUID | None = None
    turn: int | None = None
    index: int | None = None
    tool: str | None = None
    trust: str | None = None
    at: str
    match: Literal["same", "within", "holds"]
    exact: bool
    before: str
    text: str
    after: str


class OriginDocument(Shown):
    """One value of the arguments, by its JSON pointer, and where it stands; nowhere: the planner's own, or derived."""

    path: str
    found: list[PlaceDocument]


class ApprovalDocument(Shown):
    """A request for a person's decision. `canonical` is the text that `digest` binds, among other things.

    `provenance`: of the first 200 values that say enough to be looked for; true, false, null and blank texts do not.
    `command`: of a tool that is one, what is started (`argv`), and whether the arguments are its standard input.
    """

    id: UUID
    run: UUID
    step: UUID
    tool: str
    tool_version: int
    risk: str
    args: Any
    canonical: str
    command: JsonObject | None
    digest: str
    reasons: list[str]
    preconditions: list[ConditionDocument]
    provenance: list[OriginDocument]
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
