"""The bodies that programs send, as pydantic models: unknown members are refused, nothing is converted."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


class StartRun(_Body):
    """`POST /runs`."""

    agent: str = Field(min_length=1, max_length=60)
    task: str = Field(min_length=1, max_length=20_000)
    input: dict[str, Any] = Field(default_factory=dict)
    budget: dict[str, Any] = Field(default_factory=dict)
    on_behalf_of: str | None = Field(default=None, max_length=254)


class Reason(_Body):
    """`POST /runs/{id}/cancel`."""

    reason: str = Field(default="", max_length=2000)


class Usage(_Body):
    """What the outside planner used."""

    input_tokens: int = Field(default=0, ge=0, le=2**53)
    output_tokens: int = Field(default=0, ge=0, le=2**53)
    cost: Any = None


class Proposed(_Body):
    """One proposal; `args` may be anything: what is not an object becomes a refused step."""

    kind: Literal["tool", "finish"]
    tool: str = Field(default="", max_length=200)
    args: Any = None
    answer: str = Field(default="", max_length=100_000)
    call_id: str = Field(default="", max_length=200)
    why: str = Field(default="", max_length=10_000)
    again: int = Field(default=0, ge=0, le=1000)


class Proposals(_Body):
    """`POST /runs/{id}/proposals`."""

    proposals: list[Proposed] = Field(min_length=1, max_length=32)
    usage: Usage | None = None
    turn: int | None = Field(default=None, ge=1)


class Decision(_Body):
    """`POST /approvals/{id}/decisions`. Only the literal verdict counts."""

    verdict: Literal["approve", "reject", "edit", "answer"]
    digest: str = Field(max_length=200)
    reason: str = Field(default="", max_length=2000)
    then: Literal["replan", "stop"] = "replan"
    args: dict[str, Any] | None = None
    answer: str | None = None


class Reconcile(_Body):
    """`POST /steps/{id}/reconcile`."""

    outcome: Literal["succeeded", "failed"]
    evidence: str = Field(min_length=1, max_length=10_000)
    result: Any = None


class DryRunArgs(_Body):
    """`POST /tools/{name}/dry-run`."""

    args: dict[str, Any] = Field(default_factory=dict)


class SaveAgent(_Body):
    """`POST /agents`, `PATCH /agents/{slug}`."""

    slug: str = Field(default="", pattern=r"^[a-z0-9-]{0,60}$")
    name: str = Field(min_length=1, max_length=100)
    planner: Literal["playbook", "external"]
    tools: list[str] = Field(max_length=500)
    playbook: dict[str, Any] | None = None
    budget: dict[str, Any] = Field(default_factory=dict)
    description: str = Field(default="", max_length=4000)
