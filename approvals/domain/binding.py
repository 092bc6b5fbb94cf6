"""What an approval binds: the digest over everything that was shown and will be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from tools.domain.canonical import Json, canonical


@dataclass(frozen=True)
class Condition:
    """A precondition as captured: `before` is canonical text, null when it could not be read."""

    name: str
    before: str | None


@dataclass(frozen=True)
class Binding:
    """The fields of an approval's digest (semantics.md). `args`: secret leaves replaced by their full HMAC."""

    tenant: UUID
    run: UUID
    step: UUID
    request: UUID
    tool: str
    tool_version: str
    schema_hash: str
    args: Json
    target: str
    risk: str
    egress: Sequence[str]
    conditions: Sequence[Condition]
    policy_version: int
    quorum: int

    def digest(self) -> str:
        """sha256 over "approval/v1" and the canonical form, in hexadecimal."""
        body: dict[str, Json] = {
            "tenant": str(self.tenant),
            "run": str(self.run),
            "step": str(self.step),
            "request": str(self.request),
            "tool": self.tool,
            "tool_version": self.tool_version,
            "schema_hash": self.schema_hash,
            "args": self.args,
            "target": self.target,
            "risk": self.risk,
            "egress": list(self.egress),
            "preconditions": [[c.name, c.before] for c in self.conditions],
            "policy_version": self.policy_version,
            "quorum": self.quorum,
        }
        return sha256(("approval/v1" + canonical(body)).encode()).hexdigest()
