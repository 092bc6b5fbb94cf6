"""States in the rows of the handles: a save is part of the transaction that settles the call."""

from uuid import UUID

from django.db import connection
from django.db.models.functions import Now

from agentops.tenancy.ids import uuid7
from tools.domain.errors import StateMoved
from tools.models import WorkflowInstance
from tools.workflow_stores.snapshot import Snapshot

_NEW = """
INSERT INTO tools_workflowinstance (id, tenant_id, workflow_id, handle, state, revision, taken_event, taken_to)
VALUES (%s, %s, %s, %s, %s, 1, '', '') ON CONFLICT (tenant_id, workflow_id, handle) DO NOTHING
"""


class PostgresStore:
    """The states of one workflow's handles, inside the caller's tenant transaction."""

    def __init__(self, tenant_id: UUID, workflow_id: UUID) -> None:
        self._place = {"tenant_id": tenant_id, "workflow_id": workflow_id}

    def load(self, handle: str) -> Snapshot | None:
        """Where the handle stands."""
        rows = WorkflowInstance.objects.filter(**self._place, handle=handle)
        found = rows.values_list("state", "revision", "updated_at").first()
        return None if found is None else Snapshot(*found)

    def save(self, handle: str, state: str, expected_revision: int) -> None:
        """Move it from that revision to the next. Raises StateMoved."""
        if expected_revision == 0:
            with connection.cursor() as cursor:
                cursor.execute(_NEW, [uuid7(), *self._place.values(), handle, state])
                saved = cursor.rowcount
        else:
            rows = WorkflowInstance.objects.filter(**self._place, handle=handle, revision=expected_revision)
            saved = rows.update(state=state, revision=expected_revision + 1, updated_at=Now())
        if not saved:
            raise StateMoved
