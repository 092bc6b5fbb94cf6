"""The log of one run: its events, whether they hold, and all of it as a file."""

from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from agentops.tenancy.scopes import AUDIT_READ
from agentops.web.member import MemberRequest, member, show
from runs import queries
from runs.exporting import export_run
from runs.verifying import verify_run


@require_safe
@member
def events_page(request: MemberRequest, run_id: UUID) -> HttpResponse:
    """The raw log with its hashes, from `?after=` on; auditors see whether all of it holds."""
    after = int(text) if (text := request.GET.get("after", "0")).isdecimal() and len(text) < 10 else 0
    found = queries.events(request.actor, run_id, after=after)
    context = {
        "run": queries.run(request.actor, run_id),
        "events": found,
        "next": found[-1].seq if found else 0,
        "verdict": verify_run(request.actor, run_id) if request.actor.allows(AUDIT_READ) else None,
    }
    return show(request, "runs/events.html", context)


@require_safe
@member
def export(request: MemberRequest, run_id: UUID) -> HttpResponse:
    """The run as a file that an outsider can check."""
    response = JsonResponse(export_run(request.actor, run_id), json_dumps_params={"ensure_ascii": False})
    response.headers["Content-Disposition"] = f'attachment; filename="run-{run_id}.json"'
    return response
