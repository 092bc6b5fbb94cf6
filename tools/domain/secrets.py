"""Which leaves of arguments and results are secret, and the tags that stand for them (semantics.md, Secrets)."""

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tools.domain.canonical import canonical, escape
from tools.domain.secret_names import is_secret_key
from tools.domain.secret_schemas import SecretSchema, secret_schema

MIN_EMBEDDED = 8
"""A known credential of at least so many characters is found inside longer texts too."""

SECRET_TAG = re.compile(r"⟦(?:secret [a-z]+ \d+ hmac:|hmac )[0-9a-f]{8,64}⟧")
_NAME_FIELDS = ("name", "key", "header", "field")
_VALUE_FIELDS = frozenset({"value", "values"})

__all__ = ["MIN_EMBEDDED", "SECRET_TAG", "Masked", "for_digest", "is_secret_key", "mask"]


@dataclass(frozen=True, slots=True)
class Masked:
    """`value` with a tag for each secret leaf; `secrets`: JSON pointers of those leaves."""

    value: Any
    secrets: tuple[str, ...]


def mask(value: Any, schema: Any, *, key: bytes, known: frozenset[str] = frozenset()) -> Masked:
    """What everybody may see: a tag says kind, length and a short keyed HMAC, the same for the same value.

    `schema`: JSON, or what it says about secrets. To be used once on a raw value: a text that imitates a tag is
    itself masked, so every tag is one of ours.
    """

    def tag(leaf: Any) -> str:
        text = leaf if isinstance(leaf, str) else canonical(leaf)
        return f"⟦secret {_kind(leaf)} {len(text)} hmac:{_hmac(key, leaf)[:12]}⟧"

    walk = _Walk(tag, known)
    masked = walk.into(value, _ready(schema), "", False)
    return Masked(masked, tuple(walk.found))


def for_digest(value: Any, schema: Any, *, key: bytes, known: frozenset[str] = frozenset()) -> Any:
    """What digests and fingerprints hash: each secret leaf replaced by its full HMAC."""
    walk = _Walk(lambda leaf: f"⟦hmac {_hmac(key, leaf)}⟧", known)
    return walk.into(value, _ready(schema), "", False)


def _ready(schema: Any) -> SecretSchema:
    return schema if isinstance(schema, SecretSchema) else secret_schema(schema)


class _Walk:
    def __init__(self, tag: Callable[[Any], str], known: frozenset[str]) -> None:
        self.tag = tag
        self.known = known
        self.embedded = sorted((text for text in known if len(text) >= MIN_EMBEDDED), key=len, reverse=True)
        self.found: list[str] = []

    def into(self, value: Any, schema: SecretSchema, place: str, secret: bool) -> Any:
        secret = secret or schema.is_secret
        if isinstance(value, dict) and value:
            return self._object(value, schema, place, secret)
        if isinstance(value, (list, tuple)) and value:
            return [self.into(part, schema.item(at), f"{place}/{at}", secret) for at, part in enumerate(value)]
        return self._leaf(value, place, secret)

    def _object(self, value: dict[str, Any], schema: SecretSchema, place: str, secret: bool) -> dict[str, Any]:
        is_named = any(isinstance(value.get(name), str) and is_secret_key(value[name]) for name in _NAME_FIELDS)
        return {
            self._text(key): self.into(
                part,
                schema.below(key),
                f"{place}/{escape(key)}",
                secret or is_secret_key(key) or (is_named and key in _VALUE_FIELDS),
            )
            for key, part in value.items()
        }

    def _leaf(self, leaf: Any, place: str, secret: bool) -> Any:
        """Null and the empty containers hold nothing to hide."""
        if leaf is None or isinstance(leaf, (dict, list, tuple)):
            return leaf
        if secret or self._is_known(leaf):
            self.found.append(place)
            return self.tag(leaf)
        if not isinstance(leaf, str):
            return leaf
        text = self._text(leaf)
        if text != leaf:
            self.found.append(place)
        return text

    def _is_known(self, leaf: Any) -> bool:
        if not self.known or isinstance(leaf, bool):
            return False
        return (leaf if isinstance(leaf, str) else canonical(leaf)) in self.known

    def _text(self, text: str) -> str:
        """A text with the credentials inside it, and whatever imitates a tag, replaced."""
        if "⟦" in text:
            text = SECRET_TAG.sub(lambda found: self.tag(found.group()), text)
        for credential in self.embedded:
            if credential in text:
                text = text.replace(credential, self.tag(credential))
        return text


def _kind(leaf: Any) -> str:
    if isinstance(leaf, bool):
        return "boolean"
    return "string" if isinstance(leaf, str) else "number"


def _hmac(key: bytes, leaf: Any) -> str:
    return hmac.new(key, canonical(leaf).encode(), sha256).hexdigest()
