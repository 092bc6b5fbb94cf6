"""Outside agents: what a person allows one in a team, as a key without a secret that OAuth's tokens point at."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.errors import PeopleOnlyScope, ScopeNotGrantable
from agentops.tenancy.keys import require_grantable
from agentops.tenancy.models import ApiKey
from agentops.tenancy.raw_key import no_raw_key
from agentops.tenancy.scopes import APPROVALS_DECIDE, OWNER
from agentops.tenancy.transaction import identity_act


@identity_act()
def allow_agent(actor: Actor, *, client: str, name: str, scopes: Iterable[str]) -> ApiKey:
    """Let this client act for the person in their team with exactly these scopes.

    Allowing it again replaces the scopes and keeps its runs: the principal stays the same.
    Raises ScopeNotGrantable, and PeopleOnlyScope for `approvals:decide`.
    """
    if actor.kind != "person" or actor.user_id is None:
        raise ScopeNotGrantable("Agents are allowed by people who signed in.")
    asked = frozenset(scopes)
    if APPROVALS_DECIDE in asked:
        raise PeopleOnlyScope
    require_grantable(actor, asked, for_person=True)
    prefix, secret_sha256 = no_raw_key()
    key, _ = ApiKey.objects.update_or_create(
        tenant_id=actor.tenant_id,
        user_id=actor.user_id,
        client=client,
        revoked_at=None,
        defaults={"scopes": sorted(asked), "name": name},
        create_defaults={
            "scopes": sorted(asked),
            "name": name,
            "prefix": prefix,
            "secret_sha256": secret_sha256,
            "created_by_id": actor.user_id,
        },
    )
    record_change(
        actor.tenant_id, "agent.allowed", actor.label, key=str(key.id), client=client, name=name, scopes=sorted(asked)
    )
    return key


def allowed_now(actor: Actor, client: str) -> frozenset[str]:
    """What the person allows this client in their team already."""
    mine = _agents(actor).filter(user_id=str(actor.user_id), client=client)
    return frozenset(mine.values_list("scopes", flat=True).first() or ())


def agents_allowed(actor: Actor) -> list[ApiKey]:
    """The outside agents that the person allowed; an owner sees everybody's of the team."""
    keys = _agents(actor) if OWNER in actor.roles else _agents(actor).filter(user_id=str(actor.user_id))
    return list(keys.select_related("user").order_by("user__email", "name", "id"))


def disconnect(key_id: UUID, *, because: str) -> None:
    """End a key whose agent has no token left, inside the caller's transaction."""
    ended = ApiKey.objects.filter(id=key_id, revoked_at=None).exclude(client="")
    key = ended.first()
    if key is not None and ended.update(revoked_at=Now()):
        record_change(key.tenant_id, "key.revoked", because, key=str(key_id))


def _agents(actor: Actor) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(tenant_id=actor.tenant_id, revoked_at=None).exclude(client="")
