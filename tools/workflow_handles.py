"""Handles of workflows as the engine uses them: found or begun at a start, and moved under their lock."""

from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from tools.domain.canonical import Json, parse
from tools.domain.errors import WorkflowNotFound
from tools.domain.standing import Standing
from tools.domain.workflow import WorkflowSpec
from tools.models import Workflow, WorkflowInstance
from tools.workflow_stores import Snapshot, StateStore, store_of

_MOVING = ("state", "revision", "taken_by", "taken_event", "taken_to")


def handle_at(tenant_id: UUID, name: str, handle: str) -> WorkflowInstance:
    """The handle's row, begun in the initial state where nobody named it before. Raises WorkflowNotFound."""
    workflow = Workflow.objects.filter(tenant_id=tenant_id, name=name).select_related("current").first()
    if workflow is None or workflow.current is None:
        raise WorkflowNotFound
    store = store_of(tenant_id, workflow.id)
    row, _ = WorkflowInstance.objects.get_or_create(
        tenant_id=tenant_id, workflow=workflow, handle=handle,
        defaults={"state": read_workflow(workflow.current.spec).initial},
    )  # fmt: skip
    if store.load(handle) is None:
        store.save(handle, row.state, 0)
    return row


def lock_handle(tenant_id: UUID, row_id: UUID) -> "Movable":
    """The handle under its lock, until the open transaction ends."""
    rows = WorkflowInstance.objects.select_for_update(of=("self",)).select_related("workflow__current")
    row = rows.get(tenant_id=tenant_id, id=row_id)
    return Movable(row, store_of(tenant_id, row.workflow_id))


def standing_of(row: WorkflowInstance) -> Standing:
    """Where the row says that the handle stands. `row` has its workflow's current version at hand."""
    return Standing(_spec_of(row), row.handle, row.state, row.revision, row.updated_at, row.taken_by)


@lru_cache(maxsize=256)
def read_workflow(text: str) -> WorkflowSpec:
    """The definition out of its stored canonical text."""
    return WorkflowSpec.model_validate(parse(text))


def _spec_of(row: WorkflowInstance) -> WorkflowSpec:
    assert row.workflow.current is not None  # noqa: S101 - a workflow is saved with its first version
    return read_workflow(row.workflow.current.spec)


class Movable:
    """A handle under its lock: taken by a call when it starts, moved when it succeeded, given back when it did not."""

    def __init__(self, row: WorkflowInstance, store: StateStore) -> None:
        self._row, self._store = row, store
        self._stored = self._known()
        if row.taken_by is None:
            row.state, row.revision = self._stored.state, self._stored.revision
        self._before = self._values()
        self.has_moved = False

    @property
    def id(self) -> UUID:
        return self._row.id

    @property
    def taken_by(self) -> UUID | None:
        return self._row.taken_by

    @property
    def standing(self) -> Standing:
        """Where it stands now."""
        return standing_of(self._row)

    def take(self, step_id: UUID, tool: str) -> None:
        """A call of this tool starts: if it is to move the handle, nobody else does so until its outcome is known."""
        way = self.standing.way(tool)
        if self.taken_by is None and way is not None and way.to is not None:
            self._row.taken_by, self._row.taken_event, self._row.taken_to = step_id, str(way.event), way.to

    def give_back(self) -> None:
        """The call did not act: the handle stays where it is."""
        self._row.taken_by, self._row.taken_event, self._row.taken_to = None, "", ""

    def move(self) -> dict[str, Json]:
        """The call succeeded. What happened, for the run's log."""
        row = self._row
        told: dict[str, Json] = {"workflow": self.standing.name, "handle": row.handle, "event": row.taken_event}
        told |= {"from": row.state, "to": row.taken_to, "revision": row.revision + 1}
        row.state, row.revision = row.taken_to, row.revision + 1
        self.has_moved = True
        self.give_back()
        return told

    def write(self) -> None:
        """Write what changed, as the last act of the transaction: a store outside of it is then nearly as late.

        Raises StateMoved when the store holds another revision than it did under this lock.
        """
        row, stored = self._row, self._stored
        # A save that an earlier, undone transaction left in a store outside of it is not made twice.
        if self.has_moved and (row.state, row.revision) != (stored.state, stored.revision):
            self._store.save(row.handle, row.state, stored.revision)
        changed = {name: value for name, value in self._values().items() if value != self._before[name]}
        if changed:
            moment = {"updated_at": Now()} if self.has_moved else {}
            WorkflowInstance.objects.filter(tenant_id=row.tenant_id, id=row.id).update(**changed, **moment)

    def _known(self) -> Snapshot:
        """What the store holds; what it forgot begins again where the row is."""
        found = self._store.load(self._row.handle)
        if found is None:
            self._store.save(self._row.handle, self._row.state, 0)
            found = self._store.load(self._row.handle)
        assert found is not None  # noqa: S101 - it was just saved
        return found

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self._row, name) for name in _MOVING}
