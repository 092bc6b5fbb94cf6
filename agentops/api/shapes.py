"""The bodies that programs send, as pydantic models: unknown members are refused, nothing is converted."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tools.domain.call_parts import ToolName
from tools.domain.workflow import HANDLE_KEY, MAX_HANDLE

type JsonObject = dict[str, Any]


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("U+0000 is not accepted here")
    return text


_NoNul = AfterValidator(_without_nul)
Text = Annotated[str, Field(max_length=20_000), _NoNul]
Reasoning = Annotated[str, Field(max_length=2_000), _NoNul]
_Word = Annotated[str, Field(max_length=200), _NoNul]
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Amount = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,8})?$")]
_Planner = Literal["playbook", "model", "external"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class WorkflowPlace(_Body):
    """The workflow that a run stands in, and the handle that it may share with other runs."""

    name: ToolName
    handle: Annotated[str, Field(min_length=1, max_length=MAX_HANDLE), _NoNul]


class StartRun(_Body):
    """`POST /runs`. A budget may only lower the agent's limits."""

    agent: Annotated[str, Field(min_length=1, max_length=60), _NoNul]
    task: Annotated[Text, Field(min_length=1)]
    input: JsonObject = Field(default_factory=dict)
    budget: JsonObject = Field(default_factory=dict)
    on_behalf_of: Annotated[str, Field(max_length=254), _NoNul] | None = None
    workflow: WorkflowPlace | None = None


class Reason(_Body):
    """`POST /runs/{id}/cancel`."""

    reason: Reasoning = ""


class Cost(_Body):
    """An exact amount of one currency."""

    amount: _Amount
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class Usage(_Body):
    """What the outside planner used, counted into the run's budgets; a bare cost is in the run's own currency."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cost: _Amount | Cost | None = None


class ProposedCall(_Body):
    """A call. `args` may be anything: what is not an object becomes a refused step. `again`: a wanted repetition."""

    kind: Literal["tool"]
    tool: _Word
    args: Any
    call_id: _Word = ""
    why: Text = ""
    again: Annotated[int, Field(ge=0, le=1000)] = 0


class ProposedFinish(_Body):
    """The planner's answer; it stands alone."""

    kind: Literal["finish"]
    answer: Annotated[str, Field(max_length=100_000), _NoNul]


Proposed = Annotated[ProposedCall | ProposedFinish, Field(discriminator="kind")]


class Proposals(_Body):
    """`POST /runs/{id}/proposals`. With `turn`, a retry cannot become a second turn."""

    proposals: Annotated[list[Proposed], Field(min_length=1, max_length=32)]
    usage: Usage | None = None
    turn: Annotated[int, Field(ge=1, le=10**6)] | None = None


class Decision(_Body):
    """`POST /approvals/{id}/decisions`. Only the literal verdict counts; `then` goes with a rejection."""

    verdict: Literal["approve", "reject", "edit", "answer"]
    digest: _Word
    reason: Reasoning = ""
    then: Literal["replan", "stop"] = "replan"
    args: JsonObject | None = None
    answer: Text | None = None


class Nothing(_Body):
    """`POST /approvals/{id}/recheck`: nothing is to be said."""


class Reconcile(_Body):
    """`POST /steps/{id}/reconcile`."""

    outcome: Literal["succeeded", "failed"]
    evidence: Annotated[str, Field(min_length=1, max_length=10_000), _NoNul]
    result: Any = None


class DryRunArgs(_Body):
    """`POST /tools/{name}/dry-run`."""

    args: JsonObject = Field(default_factory=dict)


class DefineTool(_Body):
    """`POST /tools`: these fields and every other one of a tool's definition."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str
    description: str
    kind: str
    risk: str
    required_scope: str
    input_schema: JsonObject


class ChangeTool(_Body):
    """`PATCH /tools/{name}`: fields of the definition, or `enabled`; `revision` is the one that was read."""

    model_config = ConfigDict(extra="allow", strict=True)

    enabled: bool | None = None
    revision: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class DefineAgent(_Body):
    """`POST /agents`: a new agent."""

    slug: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
    name: Annotated[str, Field(min_length=1, max_length=100), _NoNul]
    planner: _Planner
    tools: Annotated[list[ToolName], Field(max_length=500)]
    playbook: JsonObject | None = None
    model: JsonObject | None = None
    budget: JsonObject = Field(default_factory=dict)
    description: Annotated[str, Field(max_length=4_000), _NoNul] = ""


class ChangeAgent(_Body):
    """`PATCH /agents/{slug}`: what is to change; a changed definition is a new version."""

    name: Annotated[str, Field(min_length=1, max_length=100), _NoNul] | None = None
    planner: _Planner | None = None
    tools: Annotated[list[ToolName], Field(max_length=500)] | None = None
    playbook: JsonObject | None = None
    model: JsonObject | None = None
    budget: JsonObject | None = None
    description: Annotated[str, Field(max_length=4_000), _NoNul] | None = None
    enabled: bool | None = None


class DefineWorkflow(_Body):
    """`POST /workflows`: `machine` as XState writes it, and the tools that are bound to its states."""

    name: ToolName
    machine: JsonObject
    bindings: list[JsonObject] = Field(default_factory=list)
    description: Annotated[str, Field(max_length=4_000), _NoNul] = ""
    state_handle_key: _Word = HANDLE_KEY


class ChangeWorkflow(_Body):
    """`PATCH /workflows/{name}`: what is to change. `version` is the number that was read."""

    machine: JsonObject = Field(default_factory=dict)
    bindings: list[JsonObject] = Field(default_factory=list)
    description: Annotated[str, Field(max_length=4_000), _NoNul] = ""
    state_handle_key: _Word = HANDLE_KEY
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
