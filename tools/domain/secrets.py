"""Which leaves of arguments and results are secret, and the tags that stand for them (semantics.md, Secrets)."""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tools.domain.canonical import canonical, escape

SECRET_WORDS = frozenset(
    {
        "password", "passwd", "passphrase", "pwd", "secret", "secrets", "token", "apikey", "authorization",
        "credential", "credentials", "cookie", "bearer", "jwt",
    }
)  # fmt: skip
"""A key is secret when one of its words is one of these."""

SECRET_PAIRS = frozenset(
    {("api", "key"), ("private", "key"), ("access", "key"), ("secret", "key"), ("session", "id"), ("session", "key"),
     ("signing", "key"), ("encryption", "key"), ("auth", "key"), ("client", "key")}
)  # fmt: skip
"""... or two neighbouring words are one of these."""

_NOT_SECRET_AFTER = frozenset({"count", "limit", "type", "budget", "used", "id", "name", "policy", "url", "expires"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MIN_KNOWN = 8
MAX_SCHEMA_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Masked:
    """`value` with a tag for each secret leaf; `secrets`: JSON pointers of those leaves."""

    value: Any
    secrets: tuple[str, ...]


def mask(value: Any, schema: Mapping[str, Any], *, key: bytes, known: frozenset[str] = frozenset()) -> Masked:
    """What everybody may see: a tag says kind, length and a short keyed HMAC, the same for the same value."""
    found: list[str] = []

    def tag(leaf: Any, place: str) -> str:
        found.append(place)
        text = leaf if isinstance(leaf, str) else canonical(leaf)
        return f"⟦secret {_kind(leaf)} {len(text)} hmac:{_hmac(key, leaf)[:12]}⟧"

    masked = _walk(value, schema, schema, "", False, known, tag)
    return Masked(masked, tuple(found))


def for_digest(value: Any, schema: Mapping[str, Any], *, key: bytes, known: frozenset[str] = frozenset()) -> Any:
    """What digests and fingerprints hash: each secret leaf replaced by its full HMAC."""
    return _walk(value, schema, schema, "", False, known, lambda leaf, _: f"⟦hmac {_hmac(key, leaf)}⟧")


def is_secret_key(name: str) -> bool:
    """Whether a value under this key is secret by its name alone."""
    words = [w.lower() for w in _WORDS.findall(name)]
    if any(pair in SECRET_PAIRS for pair in zip(words, words[1:], strict=False)):
        return True
    return any(
        word in SECRET_WORDS and not (place + 1 < len(words) and words[place + 1] in _NOT_SECRET_AFTER)
        for place, word in enumerate(words)
    )


def _walk(
    value: Any,
    schema: Any,
    root: Mapping[str, Any],
    place: str,
    secret: bool,
    known: frozenset[str],
    tag: Callable[[Any, str], str],
) -> Any:
    candidates = _schemas(schema, root)
    secret = secret or any(s.get("writeOnly") is True or s.get("format") == "password" for s in candidates)
    match value:
        case dict() if value:
            return {
                k: _walk(v, _below(candidates, k), root, f"{place}/{escape(k)}", secret or is_secret_key(k), known, tag)
                for k, v in value.items()
            }
        case list() if value:
            return [
                _walk(v, _items(candidates, i), root, f"{place}/{i}", secret, known, tag) for i, v in enumerate(value)
            ]
        case None | bool() if not secret:
            return value
        case str() if not secret and any(len(k) >= _MIN_KNOWN and k in value for k in known):
            return tag(value, place)
        case dict() | list():
            return value
        case _:
            return tag(value, place) if secret and value is not None else value


def _schemas(schema: Any, root: Mapping[str, Any], depth: int = 0) -> list[Mapping[str, Any]]:
    """Every subschema that may describe the same place: behind `$ref`, `allOf`, `anyOf`, `oneOf`, `if`..."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return []
    found = [schema]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        found += _schemas(_resolve(root, reference), root, depth + 1)
    for word in ("allOf", "anyOf", "oneOf"):
        members = schema.get(word)
        for member in members if isinstance(members, list | tuple) else ():
            found += _schemas(member, root, depth + 1)
    for word in ("then", "else", "if"):
        found += _schemas(schema.get(word), root, depth + 1)
    return found


def _resolve(root: Any, reference: str) -> Any:
    part = root
    for token in reference.removeprefix("#").split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        part = part.get(name) if isinstance(part, Mapping) else None
    return part


def _below(candidates: list[Mapping[str, Any]], key: str) -> dict[str, Any]:
    found: list[Any] = []
    for schema in candidates:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and key in properties:
            found.append(properties[key])
        else:
            found.append(schema.get("additionalProperties"))
        patterns = schema.get("patternProperties")
        if isinstance(patterns, Mapping):
            found += [inner for pattern, inner in patterns.items() if _matches(pattern, key)]
    return {"allOf": [f for f in found if isinstance(f, Mapping)]}


def _matches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return True


def _items(candidates: list[Mapping[str, Any]], index: int) -> dict[str, Any]:
    found: list[Any] = []
    for schema in candidates:
        first = schema.get("prefixItems")
        if isinstance(first, list | tuple) and index < len(first):
            found.append(first[index])
        else:
            found.append(schema.get("items"))
    return {"allOf": [f for f in found if isinstance(f, Mapping)]}


def _kind(leaf: Any) -> str:
    match leaf:
        case bool():
            return "boolean"
        case str():
            return "string"
        case _:
            return "number"


def _hmac(key: bytes, leaf: Any) -> str:
    return hmac.new(key, canonical(leaf).encode(), sha256).hexdigest()
