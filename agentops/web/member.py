"""The way into every page: signed in, a member, and refusals shown as pages."""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Concatenate

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from agentops.domain_error import DomainError
from agentops.errors import problem_of
from agentops.logs import naming
from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import NotAMember
from agentops.tenancy.scopes import RUNS_WRITE, TOOLS_WRITE
from agentops.tenancy.session import actor_of_request
from agentops.web.places import places
from approvals.queries import waiting_for


class MemberRequest(HttpRequest):
    """A request of a signed-in member."""

    actor: Actor
    htmx: HtmxDetails


def member[**P](view: Callable[Concatenate[MemberRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Let members in; whatever the product refuses becomes a page with its status."""

    @login_required
    @wraps(view)
    def wrapped(request: MemberRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            request.actor = actor_of_request(request)
            with naming(**kwargs):
                return view(request, *args, **kwargs)
        except NotAMember as error:
            return render(request, "tenancy/no_team.html", {"message": error.message}, status=403)
        except DomainError as error:
            return refused(request, error)

    return wrapped


def refused(request: HttpRequest, error: DomainError) -> HttpResponse:
    """The page, or for htmx the notice, that says what was refused and why."""
    problem = problem_of(error)
    if problem.status == 404:
        raise Http404 from error
    template = "refused.html#notice" if getattr(request, "htmx", False) else "refused.html"
    return render(request, template, {"problem": problem}, status=problem.status)


def show(
    request: MemberRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    parts: Collection[str] = (),
    status: int = 200,
) -> HttpResponse:
    """The page, or the one of its `parts` that htmx asks for by its id."""
    target = request.htmx.target if request.htmx else None
    may = {"may_start": request.actor.allows(RUNS_WRITE), "may_admin": request.actor.allows(TOOLS_WRITE)}
    if target in parts:
        answer = render(request, f"{template}#{target}", {**may, **context}, status=status)
    else:
        waiting = context["waiting"] if "waiting" in context else waiting_for(request.actor)
        around = {"waiting": waiting, "places": places(request.actor)}
        answer = render(request, template, {**may, **context, **around}, status=status)
    patch_vary_headers(answer, ["HX-Request", "HX-Target"])
    answer["Cache-Control"] = "no-store"
    return answer
