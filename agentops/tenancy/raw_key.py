"""How a raw API key is spelled: `ao_<prefix>_<secret>`; the prefix finds the row, the secret proves it."""

import hashlib
import secrets
from dataclasses import dataclass, field

_LENGTH = 12


@dataclass(frozen=True, slots=True)
class RawKey:
    """A new key. `text` is shown once and never stored."""

    prefix: str
    secret_sha256: bytes
    text: str = field(repr=False)


def new_raw_key() -> RawKey:
    """A key with 256 bits of secret."""
    prefix, secret = secrets.token_hex(_LENGTH // 2), secrets.token_urlsafe(32)
    return RawKey(prefix=prefix, secret_sha256=hashlib.sha256(secret.encode()).digest(), text=f"ao_{prefix}_{secret}")


def no_raw_key() -> tuple[str, bytes]:
    """Prefix and hash for a key that nobody can spell: `split` knows no such prefix, and nothing has this hash."""
    return f"agent-{secrets.token_hex(_LENGTH // 2)}", secrets.token_bytes(32)


def split(text: str) -> tuple[str, str]:
    """Prefix and secret; two empty strings when `text` is not spelled like a key."""
    mark, _, rest = text.partition("_")
    prefix, _, secret = rest.partition("_")
    is_key = mark == "ao" and len(prefix) == _LENGTH and prefix.isascii() and prefix.isalnum() and secret.isascii()
    return (prefix, secret) if is_key else ("", "")
