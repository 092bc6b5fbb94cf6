"""What REST resources share: who asks, refusals as problem+json, a transaction to read in, what an address names."""

import logging
import re
from contextlib import AbstractContextManager
from typing import Any, NoReturn
from uuid import UUID

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView

from agentops.api import errors
from agentops.api.answers import problem
from agentops.api.authentication import BearerAuthentication, resource_of
from agentops.api.negotiation import OnlyJson
from agentops.domain_error import DomainError
from agentops.logs import naming
from agentops.oauth.bearer import challenge
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import KeyRejected
from agentops.tenancy.transaction import tenant_transaction
from tools.domain.call_parts import NAME_PATTERN

logger = logging.getLogger(__name__)


class Resource(APIView):
    """A view for programs. Handlers call one operation or query and return `answer(...)`."""

    authentication_classes: tuple[type[BearerAuthentication], ...] = (BearerAuthentication,)
    permission_classes = ()
    throttle_classes = ()
    content_negotiation_class = OnlyJson

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Lines that are logged meanwhile name the rows of the address."""
        with naming(**kwargs):
            return super().dispatch(request, *args, **kwargs)

    def anybody(self) -> Actor:
        """Who asks; the operation says whether they may."""
        actor: Actor = self.request.user  # type: ignore[assignment]  # authentication makes it an Actor
        return actor

    def actor(self, scope: str) -> Actor:
        """Who asks, if their key has the scope."""
        require_scope(self.anybody(), scope)
        return self.anybody()

    def reading(self, actor: Actor) -> AbstractContextManager[None]:
        """The tenant's transaction for queries."""
        return tenant_transaction(actor.tenant_id)

    def http_method_not_allowed(self, request: HttpRequest | Request, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.MethodNotAllowed

    def handle_exception(self, exc: Exception) -> HttpResponseBase:  # type: ignore[override]  # any response will do
        """Every refusal as a problem; a fault of ours is recorded and says nothing of itself."""
        if isinstance(exc, errors.MethodNotAllowed):
            return problem(exc, Allow=", ".join(self.allowed_methods))
        if isinstance(exc, KeyRejected | errors.NotAuthenticated):
            return problem(exc, **{"WWW-Authenticate": challenge(resource_of(self.request))})
        if isinstance(exc, DomainError):
            return problem(exc)
        if isinstance(exc, Http404 | exceptions.NotFound):
            return problem(errors.NotFound())
        logger.error("A REST call failed.", exc_info=exc, extra={"path": self.request.path})
        return problem(errors.InternalFault())


def row_id(text: str) -> UUID:
    """The id in an address; one that is not spelled as an id names nothing."""
    try:
        found = UUID(text)
    except ValueError:
        raise errors.NotFound from None
    if str(found) != text.lower():
        raise errors.NotFound
    return found


def row_name(text: str) -> str:
    """The name in an address; one that no tool or workflow could have names nothing."""
    if not re.match(NAME_PATTERN, text):
        raise errors.NotFound
    return text
