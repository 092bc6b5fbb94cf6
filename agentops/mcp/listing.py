"""The tools as a client sees them: those of the offer and the door's own, always in the same order."""

from collections.abc import Sequence
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool, ToolAnnotations

from agentops.mcp.visit import Visit
from runs.offers import Offer
from tools.call import PinnedTool

ANSWERS: Final[list[dict[str, Any]]] = [
    {
        "type": "object",
        "required": ["status", "next"],
        "properties": {"status": {"enum": ["pending_approval", "running"]}},
    },
    {"type": "object", "required": ["truncated", "text"], "properties": {"truncated": {"const": True}}},
]
"""What any call may be answered with instead of its own result."""

_APPROVAL: Final = {"approval_id": {"type": "string", "description": "As `pending_approval` named it."}}
_RUN: Final = {"run": {"type": "string", "description": "Another run of yours than the one you call in."}}
_OWN: Final = (
    Tool(
        name="approval_cancel",
        title="Take a call back",
        description="Takes back a call that still waits for a person. It is then not made.",
        input_schema={"type": "object", "properties": _APPROVAL, "required": ["approval_id"]},
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    ),
    Tool(
        name="approval_wait",
        title="Wait for an approval",
        description=(
            "Waits for a person to decide on a call that answered `pending_approval`, then gives the call's result. "
            "Call it again while it says `pending_approval`; it never makes the call twice."
        ),
        input_schema={
            "type": "object",
            "properties": {
                **_APPROVAL,
                "step_id": {"type": "string", "description": "Of a call that answered `running`."},
                "timeout_s": {"type": "number", "minimum": 0, "description": "How long to wait at most."},
            },
        },
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    Tool(
        name="finish",
        title="Finish the run",
        description="Ends the run of these calls with an answer. Not possible while a call waits.",
        input_schema={"type": "object", "properties": {"answer": {"type": "string", "maxLength": 20_000}, **_RUN}},
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    ),
    Tool(
        name="workflow_status",
        title="Where the run stands",
        description="Tells the run's status, its budgets, its open approvals, and which tools may be called now.",
        input_schema={"type": "object", "properties": _RUN},
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
)
RUN_KEY: Final = "run"
OWN_NAMES: Final = frozenset(tool.name for tool in _OWN)


def tools_of(visit: Visit) -> list[Tool]:
    """Everything that may be called here, by name; our own names are never a tenant's."""
    shown = [_shown(visit, tool) for tool in _listed(visit) if tool.name not in OWN_NAMES]
    return sorted([*shown, *_OWN], key=lambda tool: tool.name)


def require_offer(visit: Visit) -> Offer:
    """What this caller may call. Raises MCPError where that is nothing, and says why."""
    if visit.offer is None:
        raise MCPError(INVALID_PARAMS, visit.unoffered or "No tools are offered.")
    return visit.offer


def _listed(visit: Visit) -> Sequence[PinnedTool]:
    """All of them on the common address, where a list may not follow from what was called; else those of the state."""
    if visit.offer is None:
        return ()
    return visit.offer.tools if visit.run_id is None else visit.offer.in_place


def handle_key_of(visit: Visit, name: str) -> str | None:
    """The argument by which a call of this tool names its run, on the address that stands for no run."""
    if visit.offer is None or visit.run_id is not None:
        return None
    tool = visit.offer.tool(name)
    if tool is None or not tool.gated:
        return None
    key = visit.offer.handle_keys.get(name)
    return None if key in tool.spec.input_schema.get("properties", {}) else key


def input_schema_of(visit: Visit, name: str) -> dict[str, Any] | None:
    """The schema of one tool that this caller may see."""
    own = next((tool for tool in _OWN if tool.name == name), None)
    if own is not None:
        return own.input_schema
    offered = visit.offer.tool(name) if visit.offer else None
    return _input_schema(visit, offered) if offered else None


def _shown(visit: Visit, tool: PinnedTool) -> Tool:
    spec = tool.spec
    standing = visit.offer.standing if visit.offer and visit.run_id is not None else None
    brief = spec.compact_description if standing is not None and standing.is_initial else ""
    return Tool(
        name=spec.name,
        title=spec.title or None,
        description=brief or spec.description,
        input_schema=_input_schema(visit, tool),
        output_schema=_output_schema(spec.output_schema),
        annotations=ToolAnnotations(
            read_only_hint=not spec.is_mutation,
            destructive_hint=spec.risk == "destructive",
            idempotent_hint=spec.idempotency == "native",
        ),
    )


def _input_schema(visit: Visit, tool: PinnedTool) -> dict[str, Any]:
    """The tool's own, with the run's name where a call must give it."""
    own = {"type": "object", **tool.spec.input_schema}
    key = handle_key_of(visit, tool.name)
    if key is None:
        return own
    named = {"type": "string", "description": "The id of the run in whose workflow this is called."}
    return {**own, "properties": {**own.get("properties", {}), key: named}}


def _output_schema(own: dict[str, Any]) -> dict[str, Any] | None:
    """The tool's own, or one of our answers: any call may be held, and clients check what they are told."""
    if own.get("type") != "object":
        return None
    shared: dict[str, Any] = {key: own[key] for key in ("$defs", "definitions", "$schema") if key in own}
    rest = {key: value for key, value in own.items() if key not in shared}
    return {"type": "object", **shared, "anyOf": [rest, *ANSWERS]}
