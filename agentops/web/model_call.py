"""One request to a run's model: what it was sent, what it said, and what that took."""

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from agentops.web.member import MemberRequest, member, show
from runs.model_queries import model_call


@require_safe
@member
def model_call_page(request: MemberRequest, run_id: UUID, number: int) -> HttpResponse:
    """The request."""
    return show(request, "runs/model_call.html", {"view": model_call(request.actor, run_id, number)})
