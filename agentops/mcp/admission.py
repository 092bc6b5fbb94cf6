"""Who may come in at `/mcp` and `/mcp/r/<run>`: a bearer with the right to call, and never one that may decide."""

import re
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from uuid import UUID

from agentops.domain_error import DomainError
from agentops.mcp.answers import Refused
from agentops.mcp.bearer import Bearer, principal_of
from agentops.mcp.threads import in_thread
from agentops.mcp.visit import Visit
from agentops.oauth.bearer import challenge
from agentops.tenancy.scopes import APPROVALS_DECIDE, RUNS_WRITE
from runs.domain.errors import RunNotFound
from runs.offers import Offer, offer_of_agent, offer_of_run, only_agent
from runs.operations.granting import open_run

_PATH = re.compile(r"/mcp(?:/r/([0-9a-fA-F-]{32,36}))?/?")

_ABOUT_TOOLS = ("tools/", "tasks/", "subscriptions/")


def is_ours(path: str) -> bool:
    """Whether this address belongs to the door."""
    return path == "/mcp" or path.startswith("/mcp/")


async def admit(path: str, headers: dict[str, str], origin: str) -> Visit:
    """The visit. Raises Refused: 404, 401 or 403, with the challenge that clients follow."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "There is nothing here.")
    resource = origin + path.rstrip("/")
    token = _token(headers, resource)
    bearer = await principal_of(token, resource)
    if bearer is None:
        said = (("WWW-Authenticate", challenge(resource, error="invalid_token")),)
        raise Refused(HTTPStatus.UNAUTHORIZED, "key_rejected", "The token is not valid here.", said)
    _check(bearer, resource)
    return Visit(
        token=token,
        resource=resource,
        bearer=bearer,
        run_id=_run(found[1]),
        agent=headers.get("x-agentops-agent", ""),
        client=headers.get("user-agent", ""),
        hold=_seconds(headers.get("x-agentops-hold", "")),
        traceparent=headers.get("traceparent", ""),
    )


async def prepare(visit: Visit) -> Visit:
    """The visit with what it may call. Raises Refused for a run that is not the bearer's."""
    method = str((visit.body or {}).get("method", ""))
    # What could not be read exactly may be about a tool all the same.
    if visit.run_id is None and not visit.fault and not method.startswith(_ABOUT_TOOLS):
        return visit
    try:
        offer = await in_thread(_offer)(visit)
    except RunNotFound as error:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", error.message) from None
    except DomainError as error:
        return replace(visit, unoffered=error.message)
    return replace(visit, offer=offer, agent=offer.agent)


def _offer(visit: Visit) -> Offer:
    actor = visit.bearer.actor
    if visit.run_id is not None:
        return offer_of_run(actor, visit.run_id)
    agent = visit.agent or only_agent(actor)
    run = open_run(actor, visit.bearer.grant, agent)
    return offer_of_agent(actor, agent) if run is None else offer_of_run(actor, run.id)


def _token(headers: dict[str, str], resource: str) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        said = (("WWW-Authenticate", challenge(resource)),)
        raise Refused(HTTPStatus.UNAUTHORIZED, "not_authenticated", "Send a bearer token.", said)
    return token.strip()


def _check(bearer: Bearer, resource: str) -> None:
    if APPROVALS_DECIDE in bearer.actor.scopes:
        said = "A key that may decide requests is no agent's: give the agent a key of its own."
        raise Refused(HTTPStatus.FORBIDDEN, "not_for_agents", said)
    if not bearer.actor.allows(RUNS_WRITE):
        told = (("WWW-Authenticate", challenge(resource, error="insufficient_scope", scope=RUNS_WRITE)),)
        raise Refused(HTTPStatus.FORBIDDEN, "scope_missing", f"This needs the scope {RUNS_WRITE}.", told)


def _run(text: str | None) -> UUID | None:
    if text is None:
        return None
    with suppress(ValueError):
        return UUID(text)
    raise Refused(HTTPStatus.NOT_FOUND, "not_found", "There is no such run.")


def _seconds(text: str) -> float | None:
    with suppress(ValueError):
        return max(0.0, min(float(text), 600.0))
    return None
