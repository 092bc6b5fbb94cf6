"""Text templates: dotted paths in braces, one pass, nothing that was inserted is read again."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
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
