"""Values at rest under AES-256-GCM: the key comes from SECRET_KEY, its id is in the value, tenant and row are bound.

After SECRET_KEY changed, values sealed under one of SECRET_KEY_FALLBACKS still open; `is_stale` says which they are.
"""

import hashlib
import os
from functools import cache
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from agentops.tenancy.errors import SealBroken

_VERSION = b"\x01"
_KEY_ID_SIZE = 4
_NONCE_SIZE = 12
_HEAD = len(_VERSION) + _KEY_ID_SIZE


def seal(tenant_id: UUID, row: str, value: bytes) -> bytes:
    """`value` sealed for one row of one tenant: version, key id, nonce, cipher text."""
    key_id, key = _sealing_key(settings.SECRET_KEY)
    nonce = os.urandom(_NONCE_SIZE)
    return _VERSION + key_id + nonce + AESGCM(key).encrypt(nonce, value, _bound_to(tenant_id, row))


def unseal(tenant_id: UUID, row: str, sealed: bytes) -> bytes:
    """What was sealed for this row. Raises SealBroken for another row, tenant or key, or a changed value."""
    sealed = bytes(sealed)
    keys = dict(_sealing_key(secret) for secret in _secrets())
    key = keys.get(sealed[len(_VERSION) : _HEAD])
    if sealed[: len(_VERSION)] != _VERSION or key is None:
        raise SealBroken
    nonce, body = sealed[_HEAD : _HEAD + _NONCE_SIZE], sealed[_HEAD + _NONCE_SIZE :]
    try:
        return AESGCM(key).decrypt(nonce, body, _bound_to(tenant_id, row))
    except (InvalidTag, ValueError):
        raise SealBroken from None


def is_stale(sealed: bytes) -> bool:
    """Whether the value was sealed under an earlier SECRET_KEY."""
    return bytes(sealed)[len(_VERSION) : _HEAD] != _sealing_key(settings.SECRET_KEY)[0]


def tenant_hmac_key(tenant_id: UUID) -> bytes:
    """The key of a tenant's tags and digests of secrets.

    It comes from the last of SECRET_KEY_FALLBACKS, the oldest, so that a rotation changes no fingerprint and no tag.
    """
    return _derived(_secrets()[-1], b"agentops tenant hmac v1 " + tenant_id.bytes)


def _secrets() -> list[str]:
    return [settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS)]


def _bound_to(tenant_id: UUID, row: str) -> bytes:
    return tenant_id.bytes + row.encode()


@cache
def _sealing_key(secret: str) -> tuple[bytes, bytes]:
    key = _derived(secret, b"agentops sealing v1")
    return hashlib.sha256(b"key id" + key).digest()[:_KEY_ID_SIZE], key


@cache
def _derived(secret: str, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
