"""The only opener of database transactions that see a tenant's rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast
from uuid import UUID

from django.db import connections, transaction

from agentops.postgres.base import DatabaseWrapper
from agentops.tenancy.errors import NoTenant

_TENANT: ContextVar[UUID | None] = ContextVar("agentops_tenant", default=None)


@contextmanager
def tenant_transaction(tenant_id: UUID, *, using: str = "default") -> Iterator[None]:
    """One durable transaction in which the database shows this tenant's rows and no others.

    The setting is local to the transaction: it cannot leak to the next user of a pooled connection.
    """
    with transaction.atomic(using=using, durable=True):
        show_rows_of(tenant_id, using=using)
        with entered(tenant_id):
            yield


def show_rows_of(tenant_id: UUID, *, using: str = "default") -> None:
    """Shows this tenant's rows until the open transaction ends."""
    backend = cast("DatabaseWrapper", connections[using])
    backend.queue(("SELECT set_config('app.tenant', $1, true)", (str(tenant_id),)))


@contextmanager
def entered(tenant_id: UUID) -> Iterator[None]:
    """Names the tenant of a transaction whose first statement sets it in the database itself."""
    token = _TENANT.set(tenant_id)
    try:
        yield
    finally:
        _TENANT.reset(token)


def current_tenant() -> UUID:
    """The tenant of the open transaction."""
    tenant_id = _TENANT.get()
    if tenant_id is None:
        raise NoTenant
    return tenant_id


@contextmanager
def identity_act() -> Iterator[None]:
    """One durable transaction over identity tables, or a part of the admin request's that is already open."""
    with transaction.atomic(durable=_TENANT.get() is None):
        yield
