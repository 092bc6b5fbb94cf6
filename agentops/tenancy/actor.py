"""Who is acting, as every door hands it to operations."""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from agentops.tenancy.scopes import APPROVALS_READ, RUNS_READ, TOOLS_READ, allows


@dataclass(frozen=True, slots=True)
class Actor:
    """A person in a browser, a key (a person's or a service account's), or an agent that a person allowed (`oauth`)."""

    tenant_id: UUID
    kind: Literal["person", "key", "oauth"]
    user_id: UUID | None
    service_account_id: UUID | None
    key_id: UUID | None
    roles: frozenset[str]
    scopes: frozenset[str]
    label: str
    principal: str
    door: str
    answerable: frozenset[UUID] = frozenset()

    @property
    def is_person(self) -> bool:
        """In the browser or by a person's key; a service account's key and an allowed agent are nobody."""
        return self.user_id is not None

    def reader(self) -> "Actor":
        """The same actor, reading back what they have just done, whatever scopes of reading they hold."""
        return replace(self, scopes=self.scopes | {RUNS_READ, APPROVALS_READ, TOOLS_READ})

    def allows(self, scope: str) -> bool:
        """Whether this actor may do what asks for `scope`."""
        return allows(self.scopes, scope)


def requesters(actor: Actor) -> frozenset[UUID]:
    """The people who asked when this actor starts a run: they never count as its approvers."""
    people = {actor.user_id} if actor.user_id is not None else set()
    return actor.answerable | people
