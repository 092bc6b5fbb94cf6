"""Who calls with this bearer token."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from agentops.mcp.threads import in_thread
from agentops.oauth.bearer import holder_of
from agentops.tenancy.access import authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import KeyRejected
from agentops.tenancy.last_use import write_noted_uses


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whoever holds the token. `grant` names what was granted for good: its runs are found by it on every worker.

    `expires_at`: when streams that it opened must end; None: never, or unknown and asked again.
    """

    actor: Actor
    grant: str
    expires_at: datetime | None = None


async def principal_of(token: str, resource: str) -> Bearer | None:
    """The bearer, or None. `resource`: the absolute address that was called, for tokens that name their audience."""
    return await in_thread(_bearer)(token, resource)


def _bearer(token: str, resource: str) -> Bearer | None:
    found = _key_holder(token) or _token_holder(token, resource)
    # Django's end-of-request signal, which writes them otherwise, is not sent for this door.
    write_noted_uses()
    return found


def _key_holder(token: str) -> Bearer | None:
    with suppress(KeyRejected):
        actor = authenticate_key(token, door="mcp")
        return Bearer(actor, f"key:{actor.key_id}")
    return None


def _token_holder(token: str, resource: str) -> Bearer | None:
    holder = holder_of(token, resource, door="mcp")
    return Bearer(holder.actor, holder.actor.principal, expires_at=holder.expires_at) if holder else None
