"""What a person chooses for themselves: the team they are in, theme and keyboard."""

from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from agentops.tenancy.models import User
from agentops.tenancy.session import switch_tenant
from agentops.web.member import MemberRequest, member
from agentops.web.shell import PREFERENCES

ONE_YEAR = 31_536_000


@require_POST
@member
def tenant(request: MemberRequest) -> HttpResponse:
    """Switch to another of one's teams."""
    try:
        wanted = UUID(request.POST.get("tenant", ""))
    except ValueError as error:
        raise BadRequest("not a team") from error
    assert isinstance(request.user, User)  # noqa: S101 - members are signed in
    switch_tenant(request.session, request.user, wanted)
    return redirect("inbox")


@require_POST
def preference(request: HttpRequest) -> HttpResponse:
    """Remember how this browser wants its pages."""
    name, value = request.POST.get("name", ""), request.POST.get("value", "")
    if value not in PREFERENCES.get(name, ()):
        raise BadRequest("not a preference")
    answer = HttpResponse(status=204) if request.headers.get("HX-Request") else redirect(_back(request))
    answer.set_cookie(name, value, max_age=ONE_YEAR, samesite="Lax", httponly=True, secure=request.is_secure())
    return answer


def _back(request: HttpRequest) -> str:
    address = request.headers.get("Referer", "")
    return address if url_has_allowed_host_and_scheme(address, {request.get_host()}) else "/"
