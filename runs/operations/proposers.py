"""Who may propose from outside: nobody who may decide, and nobody lends a run more than they hold."""

from dataclasses import replace

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import APPROVALS_DECIDE, RUNS_WRITE, in_common
from approvals.domain.errors import NotForAgents
from runs.book import Book


def check_proposer(actor: Actor) -> None:
    """Raises ScopeMissing, NotForAgents."""
    require_scope(actor, RUNS_WRITE)
    if APPROVALS_DECIDE in actor.scopes:
        raise NotForAgents


def narrow(book: Book, scopes: frozenset[str]) -> None:
    """Whoever proposes lends no more than they hold: one token of the run's principal may have less than another."""
    book.rights = replace(book.rights, scopes=in_common(book.rights.scopes, scopes))
