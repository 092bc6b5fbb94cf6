"""The definition of a tool, whole: what is validated, hashed and pinned as one immutable version."""

import hashlib
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, field_validator, model_validator

from tools.domain.call_parts import HEADER_NAME, CommandCall, HttpCall, Part, PythonCall, ToolName
from tools.domain.canonical import canonical
from tools.domain.schema import Validator, compiled
from tools.domain.secret_schemas import SecretSchema, secret_schema

type Risk = Literal["read", "write", "destructive"]
type Kind = Literal["python", "http", "command", "mcp"]
type OnChange = Literal["ask_again", "replan", "fail"]

_POINTER = r"^(/([^~/]|~[01])*)*$"

Scope = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.:-]{0,79}$")]
Destination = Annotated[str, StringConstraints(pattern=r"^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):[0-9]{1,5}$")]


class ValueAt(Part):
    """A value to be taken from the call: a JSON pointer into its arguments or its result."""

    source: Literal["args", "result"] = Field(alias="in")
    pointer: str = Field(pattern=_POINTER, max_length=500)

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class Money(Part):
    """Money that one call moves: a fixed amount (a decimal string) or where to find it."""

    amount: Decimal | ValueAt
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] | ValueAt

    @field_validator("amount", mode="before")
    @classmethod
    def _exact(cls, value: Any) -> Any:
        if isinstance(value, float):
            raise ValueError("write the amount as a decimal string")  # noqa: TRY004 - pydantic reads ValueError
        return value

    @field_validator("amount")
    @classmethod
    def _not_negative(cls, value: Any) -> Any:
        if isinstance(value, Decimal) and not (value.is_finite() and value >= 0):
            raise ValueError("an amount is a finite decimal of zero or more")
        return value


class Cost(Part):
    """What one call takes from the run's money and record budgets."""

    money: Money | None = None
    records: Annotated[int, Field(ge=0)] | ValueAt = 0


class Probe(Part):
    """A call of a read tool; `{"$cel": ...}` in the arguments sees `args`."""

    tool: ToolName
    args: dict[str, Any] = Field(default_factory=dict)


class Precondition(Part):
    """Something that must still be so when the call is made: probed at proposal, on Re-check and at claim."""

    name: str = Field(min_length=1, max_length=80)
    probe: Probe
    select: str = Field(default="@", min_length=1, max_length=1000)
    expect: str | None = Field(default=None, min_length=1, max_length=1000)
    on_change: OnChange = "ask_again"


class Reconcile(Part):
    """How an unknown outcome can be looked up: a read tool, and CEL over `result`, `args` and `idempotency_key`.

    `result` is the JMESPath of what the lookup found that stands for the call's own result. Without `failed` a lookup
    can show that the call acted and never that it did not: finding nothing proves nothing.
    """

    probe: Probe
    succeeded: str = Field(min_length=1, max_length=1000)
    failed: str | None = Field(default=None, min_length=1, max_length=1000)
    result: str = Field(default="@", min_length=1, max_length=1000)


class ToolSpec(Part):
    """One version of a tool. Two definitions are the same version iff their canonical text is the same."""

    name: ToolName
    title: str = Field(default="", max_length=120)
    description: str = Field(min_length=1, max_length=4000)
    compact_description: str = Field(default="", max_length=400)
    kind: Kind
    risk: Risk
    required_scope: Scope
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = Field(default_factory=dict)
    timeout_ms: int = Field(default=10_000, ge=1, le=600_000)
    max_result_bytes: int = Field(default=8_000, ge=1, le=1_000_000)
    resource_scope: str = Field(default="", max_length=500)
    cost: Cost = Cost()
    idempotency: str = Field(
        default="none",
        pattern=rf"^(none|native|header:{HEADER_NAME}|arg:[A-Za-z_][A-Za-z0-9_]*)$",
    )
    volatile: bool = False
    egress_by_argument: bool = False
    returns_secrets: bool = False
    min_sandbox_level: int = Field(default=0, ge=0, le=3)
    queue: Literal["control", "sandbox"] = "control"
    output_trust: Literal["trusted", "untrusted"] = "untrusted"
    egress: tuple[Destination, ...] = ()
    credential: str | None = Field(default=None, min_length=1, max_length=80)
    preconditions: tuple[Precondition, ...] = ()
    reconcile: Reconcile | None = None
    approval_summary: str = Field(default="", max_length=500)
    http: HttpCall | None = None
    python: PythonCall | None = None
    command: CommandCall | None = None

    @model_validator(mode="before")
    @classmethod
    def _queue_of_its_kind(cls, raw: Any) -> Any:
        """Commands are for the workers of the sandbox, unless the definition says otherwise."""
        is_command = isinstance(raw, dict) and raw.get("kind") == "command"
        return {"queue": "sandbox", **raw} if is_command else raw

    @model_validator(mode="after")
    def _config_of_its_kind(self) -> "ToolSpec":
        parts = {"http": self.http, "python": self.python, "command": self.command}
        if self.kind not in parts:
            raise ValueError(f"tools of the kind {self.kind} cannot run here yet")
        if any((part is None) is (kind == self.kind) for kind, part in parts.items()):
            raise ValueError(f"a tool of the kind {self.kind} has `{self.kind}` and no other kind's part")
        return self

    @property
    def is_mutation(self) -> bool:
        return self.risk != "read"

    def probe_tools(self) -> frozenset[str]:
        """The read tools that its conditions and its reconciliation ask."""
        probes = {condition.probe.tool for condition in self.preconditions}
        return frozenset(probes | ({self.reconcile.probe.tool} if self.reconcile else set()))

    @property
    def is_effect(self) -> bool:
        """A write, a destructive call, or a read whose destination an argument chooses."""
        return self.is_mutation or self.egress_by_argument

    @property
    def may_be_resent(self) -> bool:
        """Whether a call of unknown outcome may be made again with the same key, without anybody's word."""
        return not self.is_mutation or self.idempotency == "native"

    @cached_property
    def text(self) -> str:
        """The canonical text that is stored and hashed. Tools of other kinds keep the one they had without commands."""
        whole = self.model_dump(mode="python") | {"cost": self.cost.model_dump(mode="json")}
        return canonical({part: value for part, value in whole.items() if part != "command" or value is not None})

    @cached_property
    def input_validator(self) -> Validator:
        return compiled(self.input_schema)

    @cached_property
    def output_validator(self) -> Validator:
        return compiled(self.output_schema)

    @cached_property
    def secret_input(self) -> SecretSchema:
        return secret_schema(self.input_schema)

    @cached_property
    def secret_output(self) -> SecretSchema:
        return secret_schema(self.output_schema)

    @cached_property
    def content_hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def schema_hash(self) -> str:
        """Over all that tells a planner or a person what the tool is: names, descriptions, schemas."""
        parts = (
            "name",
            "title",
            "description",
            "compact_description",
            "input_schema",
            "output_schema",
        )
        return hashlib.sha256(canonical({part: getattr(self, part) for part in parts}).encode()).hexdigest()
