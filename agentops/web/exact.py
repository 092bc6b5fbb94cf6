"""Values as pages show them: every leaf, character for character."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools.domain.canonical import Json, canonical

FOLD_BYTES = 600
PREVIEW = 200


@dataclass(frozen=True)
class Piece:
    """A run of text; `code` names a character that would not be seen."""

    text: str
    code: str = ""


@dataclass(frozen=True)
class Leaf:
    """One leaf of the arguments. `fold`: longer than shown at once, `bytes` of UTF-8."""

    path: str
    title: str
    type: str
    text: str
    bytes: int
    fold: bool
    preview: str


def pieces(text: str) -> list[Piece]:
    """`text` with every invisible character named by its code point."""
    found: list[Piece] = []
    start = 0
    for at, char in enumerate(text):
        if not _is_hidden(char):
            continue
        if at > start:
            found.append(Piece(text[start:at]))
        found.append(Piece(char, f"U+{ord(char):04X}"))
        start = at + 1
    return [*found, Piece(text[start:])] if start < len(text) else found


def as_fields(value: Json, schema: Any) -> list[Leaf]:
    """Every leaf in order; empty objects and lists are leaves."""
    leaves = list(_leaves(value, schema if isinstance(schema, Mapping) else {}, ""))
    return [] if leaves and leaves[0].path == "" and value in ({}, None) else leaves


def folded(value: Json, schema: Any) -> set[str]:
    """The paths of the values that a person must open."""
    return {leaf.path for leaf in as_fields(value, schema) if leaf.fold}


def _leaves(value: Json, schema: Mapping[str, Any], path: str) -> Iterator[Leaf]:
    if isinstance(value, dict) and value:
        known = schema.get("properties", {})
        for key, part in value.items():
            yield from _leaves(part, _schema(known.get(key)), f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for at, part in enumerate(value):
            yield from _leaves(part, _schema(schema.get("items")), f"{path}[{at}]")
    else:
        yield _leaf(value, schema, path)


def _leaf(value: Json, schema: Mapping[str, Any], path: str) -> Leaf:
    text = canonical(value)
    size = len(text.encode())
    title = schema.get("title")
    return Leaf(
        path, title if isinstance(title, str) else "", _type(value), text, size, size > FOLD_BYTES, text[:PREVIEW]
    )


def _schema(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def _type(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return "number"


def _is_hidden(char: str) -> bool:
    kind = unicodedata.category(char)
    return char not in " \n\t" and (kind[0] == "C" or kind in ("Zl", "Zp", "Zs"))
