"""Every leaf of a value as a row: where it stands, what it is called, its type and its exact text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import NoneType
from typing import Any

from agentops.web.display.text import SECRET_TAG, notices
from tools.domain.canonical import Json, escape
from tools.domain.numbers import plain_digits, spell_decimal, spell_integer

FOLD_BYTES = 600
PREVIEW = 200
MOST_PLAIN_DIGITS = 60

_KINDS: dict[type, str] = {
    NoneType: "null",
    bool: "boolean",
    str: "string",
    int: "integer",
    Decimal: "number",
    dict: "object",
    list: "array",
}
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """One leaf. `text` is exact, strings in quotes; `bytes` its size in UTF-8; `fold`: longer than shown at once.

    `path` is for people, `pointer` the same place as RFC 6901 spells it.
    """

    path: str
    pointer: str
    title: str
    type: str
    text: str
    bytes: int
    fold: bool
    secret: bool = False

    @property
    def preview(self) -> str:
        """What stands before the fold."""
        return self.text[:PREVIEW]

    @property
    def preview_bytes(self) -> int:
        """How much of the value that is."""
        return len(self.preview.encode())

    @property
    def notices(self) -> list[str]:
        """What hides in the value and in its path, the folded part included."""
        return [*notices(self.path, name=True), *notices(self.text)]


def fields(value: Json, schema: Any = None) -> list[Field]:
    """Every leaf in order, empty objects and arrays too."""
    return list(_leaves(value, (schema, schema), "", ""))


def _leaves(value: Json, place: tuple[Any, Any], path: str, pointer: str) -> Iterator[Field]:
    schema, root = _resolved(*place), place[1]
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _leaves(part, (_property(schema, key), root), _joined(path, key), f"{pointer}/{escape(key)}")
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from _leaves(part, (_item(schema, index), root), f"{path}[{index}]", f"{pointer}/{index}")
    else:
        title = schema.get("title")
        yield _field(value, path, pointer, title if isinstance(title, str) else "")


def _field(value: Json, path: str, pointer: str, title: str) -> Field:
    secret = isinstance(value, str) and SECRET_TAG.fullmatch(value) is not None
    text = str(value) if secret else shown(value)
    size = len(text if text.isascii() else text.encode()) - (2 if isinstance(value, str) and not secret else 0)
    return Field(path, pointer, title, kind(value), text, size, size > FOLD_BYTES, secret)


def shown(value: Json) -> str:
    """The exact text of a leaf; a string keeps its own characters between quotes."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, Decimal)):
        return _number(value)
    return "{}" if isinstance(value, dict) else "[]"


def kind(value: Json) -> str:
    """The JSON type, with whole numbers told apart."""
    return _KINDS[type(value)]


def _number(value: int | Decimal) -> str:
    digits = plain_digits(value)
    if len(digits) <= MOST_PLAIN_DIGITS:
        return digits
    return spell_integer(value) if isinstance(value, int) else spell_decimal(value)


def _joined(path: str, key: str) -> str:
    """Keys that could be mistaken for a path stand in brackets, so that no two leaves share one."""
    if not _PLAIN_KEY.match(key):
        written = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{written}"]'
    return f"{path}.{key}" if path else key


def _resolved(schema: Any, root: Any) -> Mapping[str, Any]:
    for _ in range(16):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        schema = _at(root, reference)
    return {}


def _at(root: Any, reference: str) -> Any:
    part = root
    for token in reference[2:].split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        part = part.get(name) if isinstance(part, dict) else None
    return part


def _property(schema: Mapping[str, Any], key: str) -> Any:
    known = schema.get("properties")
    if isinstance(known, dict) and key in known:
        return known[key]
    return schema.get("additionalProperties")


def _item(schema: Mapping[str, Any], index: int) -> Any:
    first = schema.get("prefixItems")
    if isinstance(first, (list, tuple)) and index < len(first):
        return first[index]
    return schema.get("items")
