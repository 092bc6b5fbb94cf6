"""A tenant of its own, two people and three agents, made by the product's own operations."""

import secrets
from dataclasses import dataclass
from typing import Any

from agentops.tenancy.access import actor_for_session
from agentops.tenancy.actor import Actor
from agentops.tenancy.models import Membership, Tenant, User
from agentops.tenancy.scopes import APPROVER, OPERATOR, OWNER
from benchmarks.toolbox import TOOLS
from runs.operations.configuring import install_agent
from tools.operations import install_code_tools


@dataclass(frozen=True)
class Office:
    """alice starts, bob decides. Agents: `free` (20 reads), `five` (5 steps, the third waits), `one` (waits)."""

    tenant: Tenant
    alice: Actor
    bob: Actor
    bob_user: User


def open_office() -> Office:
    """Make it."""
    tenant = Tenant.objects.create(slug=f"bench-{secrets.token_hex(4)}", name="Benchmarks")
    alice, bob = (_person(tenant, name) for name in ("alice", "bob"))
    install_code_tools(tenant.id, TOOLS)
    reads: list[dict[str, Any]] = [{"tool": "bench_read", "args": {"n": n}} for n in range(20)]
    write = {"tool": "bench_write", "args": {"n": 1}}
    for slug, steps in {"free": reads, "five": [*reads[:2], write, *reads[2:4]], "one": [write]}.items():
        playbook = {"steps": steps, "answer": "Done."}
        install_agent(tenant.id, slug=slug, name=slug, planner="playbook", tools=TOOLS, playbook=playbook)
    return Office(tenant, actor_for_session(alice, tenant), actor_for_session(bob, tenant), bob)


def _person(tenant: Tenant, name: str) -> User:
    user = User.objects.create(email=f"{name}@{tenant.slug}.example", name=name.title())
    Membership.objects.create(tenant=tenant, user=user, roles=[OPERATOR, APPROVER, OWNER])
    return user
