"""What answers about tools and agents look like, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from agentops.api.documents import Fault, JsonObject, Shown


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
    planner: Literal["playbook", "model", "external"]
    tools: list[str]
    playbook: Any
    model: JsonObject | None
    budget: JsonObject


class ToolList(Shown):
    """One page of tools."""

    results: list[ToolDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class ToolVersionList(Shown):
    """The versions of a tool, newest first."""

    results: list[ToolVersionDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class AgentList(Shown):
    """Every agent."""

    results: list[AgentDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None
