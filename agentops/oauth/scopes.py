"""Scopes that an outside agent can have: of the product's own those of runs, and any tool's. It never decides."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from oauth2_provider.scopes import BaseScopes

from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import PRODUCT_SCOPES, RUNS_ON_BEHALF, RUNS_READ, RUNS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from tools.queries import MAX_PAGE, ToolRow, list_tools

WORDS = {
    RUNS_READ: _("See the team's runs and what came of them"),
    RUNS_WRITE: _("Start runs and propose calls in them"),
    RUNS_ON_BEHALF: _("Start runs in the name of other members"),
}
USUAL = frozenset({RUNS_READ, RUNS_WRITE})
_WRITTEN = re.compile(r"[a-z][a-z0-9_.:-]{0,79}\Z")
MAX_ASKED = 100


class Scopes(BaseScopes):  # type: ignore[misc]  # the library has no types
    """What the library publishes and lets through. Tool scopes are a team's own words: never published."""

    def get_all_scopes(self) -> dict[str, Any]:
        """The published ones with their words."""
        return dict(WORDS)

    def get_available_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """The published ones, and whatever a client asks for that is spelled like a scope: the person narrows it."""
        asked = request.scopes or [] if request is not None else []
        return [*WORDS, *[scope for scope in asked[:MAX_ASKED] if _WRITTEN.match(scope)]]

    def get_default_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """For a client that names none."""
        return sorted(USUAL)


@dataclass
class Offer:
    """One scope on the consent page: its words or the tools behind it, and whether it is ticked to begin with."""

    scope: str
    words: Any = ""
    tools: list[ToolRow] = field(default_factory=list)
    ticked: bool = False

    @property
    def only_reads(self) -> bool:
        """Whether nothing that it opens changes anything."""
        return all(tool.spec.risk == "read" for tool in self.tools)


def offers(actor: Actor, asked: Iterable[str], held: frozenset[str]) -> list[Offer]:
    """What the person can give this client, who `asked` and was given `held` before: nothing that they lack themselves.

    Ticked is what was asked for or held, and, where no tool was asked for by name, what only reads.
    """
    wanted = frozenset(asked) | held
    own = [Offer(scope, words=words, ticked=True) for scope, words in WORDS.items() if scope in wanted]
    found = _of_tools(actor.tenant_id)
    named = not wanted.isdisjoint(offer.scope for offer in found)
    for offer in found:
        offer.ticked = offer.scope in wanted if named else offer.only_reads
    return [offer for offer in [*own, *found] if actor.allows(offer.scope)]


def _of_tools(tenant_id: UUID) -> list[Offer]:
    by_scope: dict[str, Offer] = {}
    for tool in _enabled_tools(tenant_id):
        if tool.spec.required_scope not in PRODUCT_SCOPES:
            by_scope.setdefault(tool.spec.required_scope, Offer(tool.spec.required_scope)).tools.append(tool)
    return [by_scope[scope] for scope in sorted(by_scope)]


def _enabled_tools(tenant_id: UUID) -> Iterator[ToolRow]:
    with tenant_transaction(tenant_id):
        after: str | None = ""
        while after is not None:
            page = list_tools(tenant_id, enabled=True, after=after, limit=MAX_PAGE)
            yield from (tool for tool in page.rows if not tool.quarantined)
            after = page.next
