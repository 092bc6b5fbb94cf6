"""Text templates: dotted paths in braces, one pass, nothing that was inserted is read again."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tools.domain.canonical import canonical
from tools.domain.errors_values import InvalidTemplate

MAX_VALUE = 200
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\Z")


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the template itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """An inserted value, word for word; `missing` when there was none, `cut` when it was longer than shown."""

    text: str
    path: str
    missing: bool = False
    cut: bool = False


def check(template: str, roots: Collection[str]) -> None:
    """Raises InvalidTemplate at a lone brace, at what is not a dotted path, and at an unknown first name."""
    for found in _TOKEN.finditer(template):
        path = found.group(1)
        if path is None:
            if found.group() in ("{", "}"):
                raise InvalidTemplate(found.start(), "A lone brace; write two for a literal one.")
        elif not _PATH.match(path):
            raise InvalidTemplate(found.start(), f"{{{path}}} is not a dotted path.")
        elif path.split(".")[0] not in roots:
            raise InvalidTemplate(found.start(), f"{{{path}}} must begin with one of: {', '.join(sorted(roots))}.")


def render(template: str, context: Mapping[str, Any]) -> str:
    """The text. A missing value shows as ⟦missing path⟧, a long one ends in … and says how much is left out."""
    return "".join(part.text for part in parts(template, context))


def parts(template: str, context: Mapping[str, Any]) -> list[Text | Verbatim]:
    """The same as pieces, so that a page can set values apart from words."""
    found: list[Text | Verbatim] = []
    at = 0
    for token in _TOKEN.finditer(template):
        if token.start() > at:
            found.append(Text(template[at : token.start()]))
        path = token.group(1)
        found.append(Text(token.group()[0]) if path is None else _inserted(path, context))
        at = token.end()
    if at < len(template):
        found.append(Text(template[at:]))
    return found


def places(found: Sequence[Text | Verbatim]) -> list[int]:
    """Where the inserted values stand in the rendered text: start and end of each, in one flat list."""
    marks: list[int] = []
    at = 0
    for part in found:
        end = at + len(part.text)
        if isinstance(part, Verbatim):
            marks += [at, end]
        at = end
    return marks


def split(text: str, marks: Sequence[int]) -> list[Text | Verbatim]:
    """The pieces again, from a rendered text and its `places`."""
    found: list[Text | Verbatim] = []
    for number, (start, end) in enumerate(pairwise([0, *marks, len(text)])):
        if number % 2:
            found.append(Verbatim(text[start:end], ""))
        elif end > start:
            found.append(Text(text[start:end]))
    return found


def _inserted(path: str, context: Mapping[str, Any]) -> Verbatim:
    value: Any = context
    for name in path.split("."):
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return Verbatim(f"⟦missing {path}⟧", path, missing=True)
    text = value if isinstance(value, str) else canonical(value)
    if len(text) > MAX_VALUE:
        return Verbatim(f"{text[:MAX_VALUE]}…[{len(text) - MAX_VALUE} more]", path, cut=True)
    return Verbatim(text, path)
