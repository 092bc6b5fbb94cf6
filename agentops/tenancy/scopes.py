"""Roles of members and scopes of keys, and which role is worth which scopes.

A role belongs to a member, a scope to a key. A person in a browser has the scopes of their roles.
Besides the product's own scopes a key carries tool scopes: the `required_scope` values of tools, free text that
teams choose. `ANY_TOOL` stands for all of them and is never stored in a key.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

VIEWER: Final = "viewer"
OPERATOR: Final = "operator"
APPROVER: Final = "approver"
TOOL_ADMIN: Final = "tool_admin"
OWNER: Final = "owner"
ROLES: Final = (VIEWER, OPERATOR, APPROVER, TOOL_ADMIN, OWNER)

RUNS_READ: Final = "runs:read"
RUNS_WRITE: Final = "runs:write"
RUNS_ON_BEHALF: Final = "runs:on_behalf"
APPROVALS_READ: Final = "approvals:read"
APPROVALS_DECIDE: Final = "approvals:decide"
TOOLS_READ: Final = "tools:read"
TOOLS_WRITE: Final = "tools:write"
AUDIT_READ: Final = "audit:read"
PRODUCT_SCOPES: Final = frozenset(
    {RUNS_READ, RUNS_WRITE, RUNS_ON_BEHALF, APPROVALS_READ, APPROVALS_DECIDE, TOOLS_READ, TOOLS_WRITE, AUDIT_READ}
)
ANY_TOOL: Final = "*"

_READ = frozenset({RUNS_READ, APPROVALS_READ, TOOLS_READ, AUDIT_READ})
SCOPES_OF_ROLE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        VIEWER: _READ,
        OPERATOR: _READ | {RUNS_WRITE, RUNS_ON_BEHALF, ANY_TOOL},
        APPROVER: _READ | {APPROVALS_DECIDE},
        TOOL_ADMIN: _READ | {TOOLS_WRITE},
        OWNER: PRODUCT_SCOPES | {ANY_TOOL},
    }
)


def scopes_of(roles: Iterable[str]) -> frozenset[str]:
    """Everything these roles may do together."""
    return frozenset().union(*(SCOPES_OF_ROLE[role] for role in roles))


def allows(held: frozenset[str], scope: str) -> bool:
    """Whether a holder of `held` may do what asks for `scope`; `ANY_TOOL` never stands for a product scope."""
    return scope in held or (ANY_TOOL in held and scope not in PRODUCT_SCOPES)


def in_common(asked: Iterable[str], held: frozenset[str]) -> frozenset[str]:
    """The scopes of `asked` that `held` allows."""
    return frozenset(scope for scope in asked if allows(held, scope))
