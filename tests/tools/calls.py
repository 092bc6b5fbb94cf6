"""The shortest way to a call of a tool that is not in any database."""

import time
from typing import Any

from pydantic import SecretStr

from agentops.tenancy.ids import uuid7
from tools.call import CancelSignal, PinnedTool, ToolCall
from tools.domain.checks import parse_spec
from tools.domain.spec import ToolSpec


def http_spec(url: str, **fields: Any) -> ToolSpec:
    """An HTTP tool with one optional argument `x`, a read unless told otherwise; `http` adds to its part."""
    http = {"method": "GET", "url": url} | fields.pop("http", {})
    return parse_spec(
        {
            "name": "probe",
            "description": "A tool for tests.",
            "kind": "http",
            "risk": "read",
            "required_scope": "ledger:read",
            "input_schema": {"type": "object", "properties": {"x": {}}},
            "http": http,
            **fields,
        }
    )


def post_spec(url: str, **fields: Any) -> ToolSpec:
    """A destructive tool that sends its arguments as the body."""
    http = {"method": "POST", "body": "{args}"} | fields.pop("http", {})
    return http_spec(url, risk="destructive", http=http, **fields)


def call_of(
    spec: ToolSpec,
    args: dict[str, Any] | None = None,
    *,
    seconds: float = 30.0,
    cancelled: CancelSignal | None = None,
    bearer: str | None = None,
) -> ToolCall:
    """A call of this definition as the engine would hand it over."""
    return ToolCall(
        tenant_id=uuid7(),
        run_id=uuid7(),
        step_id=uuid7(),
        tool=PinnedTool(uuid7(), uuid7(), spec.name, 1, spec, True, False, spec.schema_hash),
        args=args if args is not None else {},
        idempotency_key="key-1",
        actor_sub="user:alice",
        scopes=frozenset({"ledger:read"}),
        deadline=time.monotonic() + seconds,
        cancelled=cancelled or CancelSignal(),
        credential=SecretStr(bearer) if bearer else None,
    )
