"""Where the states of handles are kept: in the product's Postgres, in Redis, or in this process's memory."""

from importlib import import_module
from uuid import UUID

from django.conf import settings

from tools.workflow_stores.memory import MemoryStore
from tools.workflow_stores.postgres import PostgresStore
from tools.workflow_stores.snapshot import Snapshot, StateStore

__all__ = ["Snapshot", "StateStore", "store_of"]


def store_of(tenant_id: UUID, workflow_id: UUID) -> StateStore:
    """The store that the operator chose, for the handles of one workflow."""
    match settings.AGENTOPS_WORKFLOW_STORE:
        case "memory":
            return MemoryStore(tenant_id, workflow_id)
        case "redis":
            # Imported where it is used: an installation without Redis does not carry its client.
            store: StateStore = import_module("tools.workflow_stores.redis").RedisStore(tenant_id, workflow_id)
            return store
        case _:
            return PostgresStore(tenant_id, workflow_id)
