"""Outside agents that were let in: seen by who allowed them and by owners, and ended here."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from agentops.tenancy.agents import agents_allowed
from agentops.tenancy.keys import revoke_key
from agentops.tenancy.scopes import OWNER
from agentops.web.member import MemberRequest, member, show


@require_safe
@member
def agents(request: MemberRequest) -> HttpResponse:
    """One's own; an owner's list is the team's."""
    context = {
        "agents": agents_allowed(request.actor),
        "me": request.actor.user_id,
        "of_the_team": OWNER in request.actor.roles,
        "address": request.build_absolute_uri("/mcp"),
    }
    return show(request, "tenancy/agents.html", context)


@require_POST
@member
def agent_revocation(request: MemberRequest, key_id: UUID) -> HttpResponse:
    """End what an agent was allowed, at once."""
    revoke_key(request.actor, key_id=key_id)
    return redirect("agents")
