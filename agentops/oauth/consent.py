"""The page on which a person lets a client act for them in one of their teams, or does not."""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.csp import CSP
from django.views.decorators.csp import csp_override
from django.views.decorators.http import require_http_methods
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError

from agentops.domain_error import DomainError
from agentops.oauth.asking import Asked, read
from agentops.oauth.redirects import form_action_of, is_on_this_machine, redirected, refuse
from agentops.oauth.resources import run_of
from agentops.oauth.scopes import Offer, offers
from agentops.oauth.tokens import library
from agentops.tenancy.access import actor_for_session
from agentops.tenancy.actor import Actor
from agentops.tenancy.agents import allow_agent, allowed_now
from agentops.tenancy.models import Tenant, User
from agentops.tenancy.session import tenant_of_session, tenants_of
from agentops.tenancy.transaction import identity_act
from runs import queries


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """Ask; and send the answer to the client's own address."""
    try:
        asked = read(request)
        teams = _teams(request, asked)
        if request.method != "POST":
            return _page(request, asked, teams)
        if "allow" not in request.POST:
            return refuse(request, asked.redirect_uri, state=asked.state, error="access_denied")
        return _allow(request, asked, teams)
    except OAuthToolkitError as error:
        fault = error.oauthlib_error
        # Anybody may introduce a client: led to any address by a mere fault, people would be led by anybody.
        if isinstance(error, FatalClientError) or not is_on_this_machine(fault.redirect_uri or ""):
            return _refused(request, fault.description or fault.error)
        told = {"state": fault.state, "error": fault.error, "description": fault.description or ""}
        return refuse(request, fault.redirect_uri, **told)


def _allow(request: HttpRequest, asked: Asked, teams: list[Actor]) -> HttpResponse:
    # What was shown is what is given, whatever other tabs did meanwhile.
    if not teams or str(teams[0].tenant_id) != request.POST.get("team"):
        return _page(request, asked, teams)
    actor = teams[0]
    given = sorted({offer.scope for offer in _offers(actor, asked)} & set(request.POST.getlist("give")))
    if not given:
        return _page(request, asked, teams, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    key = allow_agent(actor, client=asked.client.client_id, name=asked.name, scopes=given)
    credentials = {**asked.credentials, "key": key}
    with identity_act():
        uri, *_ = library().create_authorization_response(request, given, credentials, allow=True)
    return redirected(uri)


def _teams(request: HttpRequest, asked: Asked) -> list[Actor]:
    """The person in each team that this can be for, the chosen one first."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - they signed in
    tenants = tenants_of(user)
    actors = [actor_for_session(user, tenant) for tenant in tenants]
    run_id = run_of(asked.resource)
    if run_id is not None:
        actors = [actor for actor in actors if _sees(actor, run_id)]
    chosen = request.POST.get("team") or request.GET.get("team") or _current(request, user, tenants)
    return sorted(actors, key=lambda actor: str(actor.tenant_id) != chosen)


def _current(request: HttpRequest, user: User, tenants: list[Tenant]) -> str:
    return str(tenant_of_session(request.session, user, tenants).id) if tenants else ""


def _sees(actor: Actor, run_id: Any) -> bool:
    try:
        queries.run(actor, run_id)
    except DomainError:
        return False
    return True


def _offers(actor: Actor, asked: Asked) -> list[Offer]:
    return offers(actor, asked.scopes, allowed_now(actor, asked.client.client_id))


def _refused(request: HttpRequest, reason: str) -> HttpResponse:
    """Nobody may be sent anywhere: the person is told instead."""
    return render(request, "oauth/refused.html", {"reason": reason}, status=HTTPStatus.BAD_REQUEST)


def _page(request: HttpRequest, asked: Asked, teams: list[Actor], *, status: int = HTTPStatus.OK) -> HttpResponse:
    names = {tenant.id: tenant.name for tenant in tenants_of(request.user)}  # type: ignore[arg-type]  # they signed in
    context = {
        "asked": asked,
        "on_this_machine": is_on_this_machine(asked.redirect_uri),
        "team": names[teams[0].tenant_id] if teams else "",
        "team_id": teams[0].tenant_id if teams else "",
        "others": [(_with_team(request, actor), names[actor.tenant_id]) for actor in teams[1:]],
        "offers": _offers(teams[0], asked) if teams else [],
        "nothing_chosen": status == HTTPStatus.UNPROCESSABLE_ENTITY,
    }
    policy: dict[str, Any] = {**settings.SECURE_CSP, "form-action": [CSP.SELF, form_action_of(asked.redirect_uri)]}
    answer: HttpResponse = csp_override(policy)(render)(request, "oauth/consent.html", context, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def _with_team(request: HttpRequest, actor: Actor) -> str:
    query = request.GET.copy()
    query["team"] = str(actor.tenant_id)
    return f"{request.path}?{query.urlencode()}"
