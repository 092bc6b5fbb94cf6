"""What makes two calls the same call, and the key that the tool is given for it (contracts.md, semantics.md)."""

from hashlib import sha256
from typing import Any

from tools.domain.canonical import canonical


def fingerprint(
    *,
    tenant: str,
    principal: str,
    tool: str,
    tool_version: str,
    resource_scope: str,
    args_for_digest: Any,
    again: int = 0,
) -> str:
    """sha256 of the canonical call. `again`: 1, 2, ... marks a deliberate repetition."""
    body: dict[str, Any] = {
        "v": 1,
        "tenant": tenant,
        "principal": principal,
        "tool": tool,
        "tool_version": tool_version,
        "resource_scope": resource_scope,
        "args": args_for_digest,
    }
    if again:
        body["again"] = again
    return sha256(canonical(body).encode()).hexdigest()


def idempotency_key(run: str, fingerprint: str, failed_before: int) -> str:
    """sha256(run + fingerprint + n): attempts and re-asks share it, a new try after a definite failure does not."""
    return sha256(f"{run}{fingerprint}{failed_before}".encode()).hexdigest()
