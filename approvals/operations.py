"""Changes of a tenant's policy: each is a new immutable version, in force for every call that is judged from then on.

`put_policy` takes part in the tenant transaction that its caller has opened; `set_policy` opens its own.
"""

from hashlib import sha256
from typing import Any

from django.db.models.functions import Now

from agentops.after_commit import tell_later
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.models import Tenant
from agentops.tenancy.scopes import TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from approvals.domain.errors import PolicyMoved
from approvals.domain.policy import Policy
from approvals.domain.rules import read_policy
from approvals.models import PolicyVersion
from tools.domain.canonical import canonical


def set_policy(actor: Actor, *, preset: str, rules: Any, reconcile_quorum: int | None = None) -> PolicyVersion:
    """A new version of the tenant's policy. Raises InvalidPolicy, ScopeMissing."""
    with tenant_transaction(actor.tenant_id):
        return put_policy(actor, preset=preset, rules=rules, reconcile_quorum=reconcile_quorum)


def put_policy(
    actor: Actor, *, preset: str, rules: Any, reconcile_quorum: int | None = None, version: int | None = None
) -> PolicyVersion:
    """A new version, or the one in force when it says the same.

    `reconcile_quorum`: None keeps what is in force. `version`: the number that the caller had read.
    """
    require_scope(actor, TOOLS_WRITE)
    # The tenant's row orders two saves at once.
    Tenant.objects.select_for_update().get(id=actor.tenant_id)
    current = in_force(actor)
    number = current.number if current else 0
    if version is not None and version != number:
        raise PolicyMoved(version=number)
    kept = current.reconcile_quorum if current else 1
    quorum = kept if reconcile_quorum is None else reconcile_quorum
    policy = read_policy({"preset": preset, "rules": rules, "reconcile_quorum": quorum})
    said = _columns(policy)
    if current is not None and all(getattr(current, name) == value for name, value in said.items()):
        return current
    made = PolicyVersion.objects.create(
        tenant_id=actor.tenant_id, number=number + 1, created_at=Now(), created_by_id=actor.user_id, **said
    )
    _record(actor, made, said)
    return made


def _columns(policy: Policy) -> dict[str, Any]:
    """What a version says, as it is kept."""
    rules = canonical([rule.model_dump(mode="json", exclude_none=True) for rule in policy.rules])
    return {"preset": policy.preset.value, "rules": rules, "reconcile_quorum": policy.reconcile_quorum}


def _record(actor: Actor, made: PolicyVersion, said: dict[str, Any]) -> None:
    record_change(
        actor.tenant_id,
        "policy.saved",
        actor.label,
        version=made.number,
        preset=made.preset,
        reconcile_quorum=made.reconcile_quorum,
        content_hash=sha256(canonical(said).encode()).hexdigest(),
    )
    tell_later(actor.tenant_id, "policy", made.id)


def in_force(actor: Actor) -> PolicyVersion | None:
    """The version in force, inside an open transaction; none: the preset `careful` alone."""
    return PolicyVersion.objects.filter(tenant_id=actor.tenant_id).order_by("-number").first()
