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
from approvals.domain.rules import read_policy
from approvals.models import PolicyVersion
from tools.domain.canonical import canonical


def set_policy(actor: Actor, *, preset: str, rules: Any) -> PolicyVersion:
    """A new version of the tenant's policy. Raises InvalidPolicy, ScopeMissing."""
    with tenant_transaction(actor.tenant_id):
        return put_policy(actor, preset=preset, rules=rules)


def put_policy(actor: Actor, *, preset: str, rules: Any, version: int | None = None) -> PolicyVersion:
    """A new version, or the one in force when it says the same. `version`: the number that the caller had read."""
    require_scope(actor, TOOLS_WRITE)
    policy = read_policy({"preset": preset, "rules": rules})
    # The tenant's row orders two saves at once.
    Tenant.objects.select_for_update().get(id=actor.tenant_id)
    current = in_force(actor)
    number = current.number if current else 0
    if version is not None and version != number:
        raise PolicyMoved(version=number)
    text = canonical([rule.model_dump(mode="json", exclude_none=True) for rule in policy.rules])
    if current is not None and (current.preset, current.rules) == (policy.preset.value, text):
        return current
    made = PolicyVersion.objects.create(
        tenant_id=actor.tenant_id,
        number=number + 1,
        preset=policy.preset.value,
        rules=text,
        created_at=Now(),
        created_by_id=actor.user_id,
    )
    digest = sha256(text.encode()).hexdigest()
    record_change(
        actor.tenant_id, "policy.saved", actor.label, version=made.number, preset=made.preset, rules_hash=digest
    )
    tell_later(actor.tenant_id, "policy", made.id)
    return made


def in_force(actor: Actor) -> PolicyVersion | None:
    """The version in force, inside an open transaction; none: the preset `careful` alone."""
    return PolicyVersion.objects.filter(tenant_id=actor.tenant_id).order_by("-number").first()
