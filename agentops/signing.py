"""Signs what must be provable to outsiders, with Ed25519. The key is AGENTOPS_SIGNING_KEY or comes from SECRET_KEY."""

import base64
import binascii
from functools import cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def sign(text: str) -> str:
    """The signature, in base64."""
    return _text(_key().sign(text.encode()))


def public_key() -> str:
    """The 32 bytes of the public key that `sign` signs for, in base64."""
    return _text(_key().public_key().public_bytes_raw())


def is_signed(text: str, signature: str, key: str) -> bool:
    """Whether `signature` is of `text`, by the private half of `key`."""
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(key)).verify(base64.b64decode(signature), text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _key() -> Ed25519PrivateKey:
    return _loaded(settings.AGENTOPS_SIGNING_KEY, settings.SECRET_KEY)


@cache
def _loaded(configured: str, secret: str) -> Ed25519PrivateKey:
    if not configured:
        seed = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"agentops checkpoints v1").derive(secret.encode())
        return Ed25519PrivateKey.from_private_bytes(seed)
    try:
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(configured, validate=True))
    except (ValueError, binascii.Error):
        raise ImproperlyConfigured("AGENTOPS_SIGNING_KEY must be 32 bytes in base64.") from None


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
