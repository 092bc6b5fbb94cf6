"""Bearer tokens of tools: written once, opened only for one call to one host, never shown again."""

import re
from functools import lru_cache
from uuid import UUID

from django.db.models.functions import Now
from pydantic import SecretStr

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.changes import record_change
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import TOOLS_WRITE
from agentops.tenancy.sealing import seal, unseal
from agentops.tenancy.transaction import tenant_transaction
from tools.domain.egress import HostRefused, destination
from tools.domain.errors import CredentialNotFound, InvalidCredential
from tools.domain.spec import ToolSpec
from tools.models import Credential

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}\Z")
_BEARER = re.compile(r"[A-Za-z0-9\-._~+/]{8,4000}=*\Z")


def set_credential(actor: Actor, name: str, where: str, bearer: SecretStr) -> Credential:
    """Store or replace a bearer for one `host:port`. Raises InvalidCredential."""
    with tenant_transaction(actor.tenant_id):
        return keep_credential(actor, name, where, bearer)


def keep_credential(actor: Actor, name: str, where: str, bearer: SecretStr) -> Credential:
    """As `set_credential`, inside a tenant transaction that the caller has opened."""
    require_scope(actor, TOOLS_WRITE)
    return _kept(actor.tenant_id, name, where, bearer, actor.label)


def store_credential(tenant_id: UUID, name: str, where: str, bearer: SecretStr, *, by: str) -> Credential:
    """As `set_credential`, for what sets a tenant up. Raises InvalidCredential."""
    with tenant_transaction(tenant_id):
        return _kept(tenant_id, name, where, bearer, by)


def credential_for(tenant_id: UUID, spec: ToolSpec) -> SecretStr | None:
    """The bearer that this tool authenticates with, in the open transaction; execution alone asks for it.

    A definition is only saved when its fixed host is the credential's, and neither changes later.
    """
    if spec.credential is None:
        return None
    row = Credential.objects.filter(tenant_id=tenant_id, name=spec.credential).first()
    if row is None:
        raise CredentialNotFound
    return _secret(row)


def destination_of(tenant_id: UUID, name: str) -> str | None:
    """The one `host:port` that this credential may be sent to, in the open transaction; None: there is none."""
    return Credential.objects.filter(tenant_id=tenant_id, name=name).values_list("destination", flat=True).first()


def known_secrets(tenant_id: UUID) -> frozenset[str]:
    """Every stored bearer of the tenant, in the open transaction, so that masking can recognise one that travels."""
    return frozenset(_secret(row).get_secret_value() for row in Credential.objects.filter(tenant_id=tenant_id))


@lru_cache(maxsize=1024)
def opened(tenant_id: UUID, row_id: UUID, sealed: bytes) -> SecretStr:
    """A bearer out of a row that the caller's own statement read."""
    return SecretStr(unseal(tenant_id, _row(row_id), sealed).decode())


def _kept(tenant_id: UUID, name: str, where: str, bearer: SecretStr, by: str) -> Credential:
    _check(name, where, bearer)
    row = Credential.objects.select_for_update().filter(tenant_id=tenant_id, name=name).first()
    row = row or Credential(id=uuid7(), tenant_id=tenant_id, name=name)
    if row.destination not in ("", where):
        raise InvalidCredential("A credential keeps its destination: make another one.", pointer="/destination")
    row.destination, row.created_by = where, by
    row.sealed = seal(tenant_id, _row(row.id), bearer.get_secret_value().encode())
    row.save()
    Credential.objects.filter(pk=row.pk).update(updated_at=Now())
    record_change(tenant_id, "credential.stored", by, name=name, destination=where)
    return row


def _check(name: str, where: str, bearer: SecretStr) -> None:
    if not _NAME.match(name):
        raise InvalidCredential("A name has letters, digits, spaces and . _ -, at most 80.", pointer="/name")
    try:
        canonical = str(destination(f"https://{where}/"))
    except HostRefused as error:
        raise InvalidCredential(error.message, pointer="/destination") from None
    if canonical != where:
        raise InvalidCredential("Write the destination as host:port.", pointer="/destination")
    if not _BEARER.match(bearer.get_secret_value()):
        raise InvalidCredential("A bearer is 8 to 4,000 characters of A-Z a-z 0-9 - . _ ~ + / =.", pointer="/bearer")


def _row(id_: UUID) -> str:
    return f"tools_credential:{id_}"


def _secret(row: Credential) -> SecretStr:
    return opened(row.tenant_id, row.id, bytes(row.sealed))
