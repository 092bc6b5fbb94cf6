"""The names that say that a value is secret, in any spelling: snake_case, camelCase, header-case, glued together."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

WORDS = frozenset(
    {
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "secret",
        "secrets",
        "token",
        "apikey",
        "authorization",
        "credential",
        "credentials",
        "cookie",
        "cookies",
        "bearer",
        "jwt",
        "otp",
        "totp",
        "cvv",
        "cvc",
        "sessionid",
    }
)
"""A key is secret when one of its words is one of these ..."""

PAIRS = frozenset(
    {
        ("api", "key"),
        ("api", "keys"),
        ("private", "key"),
        ("access", "key"),
        ("secret", "key"),
        ("session", "id"),
        ("session", "key"),
        ("session", "cookie"),
        ("user", "session"),
        ("auth", "session"),
        ("signing", "key"),
        ("encryption", "key"),
        ("shared", "key"),
        ("master", "key"),
        ("ssh", "key"),
        ("auth", "key"),
        ("auth", "header"),
        ("basic", "auth"),
        ("client", "key"),
        ("connection", "string"),
        ("access", "tokens"),
        ("refresh", "tokens"),
        ("api", "tokens"),
        ("auth", "tokens"),
        ("bearer", "tokens"),
        ("pin", "code"),
        ("card", "pin"),
        ("db", "pass"),
        ("user", "pass"),
        ("smtp", "pass"),
        ("ssh", "pass"),
        ("root", "pass"),
        ("admin", "pass"),
        ("redis", "pass"),
        ("mail", "pass"),
    }
)
"""... or two neighbouring words are one of these ..."""

WHOLE = frozenset({("session",), ("auth",), ("pass",), ("pin",), ("sid",)})
"""... or this is all there is ..."""

ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "secretkey")
"""... or one of its words, written together, ends so."""

HARMLESS = frozenset(
    {
        "count",
        "counts",
        "limit",
        "limits",
        "type",
        "types",
        "budget",
        "budgets",
        "usage",
        "used",
        "policy",
        "name",
        "names",
        "url",
        "uri",
        "endpoint",
        "expires",
        "expiry",
        "expiration",
        "length",
        "ttl",
        "required",
        "enabled",
        "status",
        "version",
        "algorithm",
        "size",
        "scope",
        "scopes",
    }
)
"""A key about a secret ends in one of these: `token_count`, `password_policy`."""

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=16_384)
def is_secret_key(name: str) -> bool:
    """Whether a value under this key is secret by its name alone."""
    words = _words(name)
    if not words or words[-1] in HARMLESS:
        return False
    glued = "".join(words)
    return (
        tuple(words) in WHOLE
        or not WORDS.isdisjoint(words)
        or not PAIRS.isdisjoint(pairwise(words))
        or any(word.endswith(ENDINGS) for word in words)
        or (glued.endswith(ENDINGS) and all(len(word) < 3 for word in words))
    )


def _words(name: str) -> list[str]:
    """The words without the characters that a reader would not see."""
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKC", name[:400]) if unicodedata.category(letter) != "Cf"
    )
    spaced = _HUMPS.sub(" ", plain)
    return [word.lower() for word in _WORDS.findall(spaced) if not word.isdigit()]
