"""What a JSON Schema says about secrets, place by place: `writeOnly` and `format: password`, through every keyword."""

from collections.abc import Iterator, Mapping
from typing import Any

_SAME_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_PLACE = ("if", "then", "else", "not")
_ANY_PROPERTY = ("additionalProperties", "unevaluatedProperties")
_ANY_ITEM = ("items", "contains", "unevaluatedItems")
_MOST_NODES = 20_000


class SecretSchema:
    """All subschemas that may describe one place. Doubt makes secret: a pattern of property names counts for all."""

    def __init__(self, root: Any, schemas: list[Any]) -> None:
        self._root = root
        self._nodes = list(_same_place(root, schemas))
        self._below: dict[str | int, SecretSchema] = {}
        self.is_secret = any(node.get("writeOnly") is True or node.get("format") == "password" for node in self._nodes)

    def below(self, key: str) -> "SecretSchema":
        """The place under a key."""
        known = any(key in _mapping(node.get("properties")) for node in self._nodes)
        return self._step(key if known else "\0other", lambda node: _property(node, key))

    def item(self, index: int) -> "SecretSchema":
        """The place of an item; all items behind `prefixItems` are one place."""
        first = max((len(_sequence(node.get("prefixItems"))) for node in self._nodes), default=0)
        return self._step(min(index, first), lambda node: _item(node, index))

    def _step(self, name: str | int, schemas: Any) -> "SecretSchema":
        if not self._nodes:
            return self
        if name not in self._below:
            self._below[name] = SecretSchema(self._root, [part for node in self._nodes for part in schemas(node)])
        return self._below[name]


def secret_schema(schema: Any) -> SecretSchema:
    """The root of a schema; one that never speaks of secrets costs nothing further."""
    return SecretSchema(schema, [schema]) if _speaks_of_secrets(schema) else NOTHING_SECRET


def _speaks_of_secrets(schema: Any) -> bool:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if part.get("writeOnly") is True or part.get("format") == "password":
                return True
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
    return False


def _same_place(root: Any, schemas: list[Any]) -> Iterator[Mapping[str, Any]]:
    seen: set[int] = set()
    waiting = list(schemas)
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        for word in _SAME_PLACE_LISTS:
            waiting.extend(_sequence(node.get(word)))
        waiting.extend(node.get(word) for word in _SAME_PLACE)
        waiting.extend(_mapping(node.get("dependentSchemas")).values())
        waiting.extend(_resolve(root, node.get(word)) for word in ("$ref", "$dynamicRef"))


def _property(node: Mapping[str, Any], key: str) -> Iterator[Any]:
    known = _mapping(node.get("properties"))
    if key in known:
        yield known[key]
    else:
        yield from (node.get(word) for word in _ANY_PROPERTY)
    yield from _mapping(node.get("patternProperties")).values()


def _item(node: Mapping[str, Any], index: int) -> Iterator[Any]:
    first = _sequence(node.get("prefixItems"))
    if index < len(first):
        yield first[index]
    yield from (node.get(word) for word in _ANY_ITEM)


def _resolve(root: Any, reference: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference[1:] and not reference.startswith("#/"):
        return _anchored(root, reference[1:])
    part = root
    for token in reference.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(part, (list, tuple)):
            part = part[int(name)] if name.isascii() and name.isdecimal() and int(name) < len(part) else None
        else:
            part = _mapping(part).get(name)
    return part


def _anchored(root: Any, anchor: str) -> Any:
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if anchor in (part.get("$anchor"), part.get("$dynamicAnchor")):
                return part
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
    return None


def _mapping(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def _sequence(part: Any) -> list[Any] | tuple[Any, ...]:
    return part if isinstance(part, (list, tuple)) else ()


NOTHING_SECRET = SecretSchema(None, [])
