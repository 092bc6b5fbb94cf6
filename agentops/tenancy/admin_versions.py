"""The versions of a row as its admin page shows them: newest first, each with what it changed."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from django.template.loader import render_to_string
from django.utils.safestring import SafeString


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable version; `text` is its definition over several lines."""

    number: int
    is_current: bool
    at: dt.datetime
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference; `sign` is `+`, `-`, a space, or `@` where lines are left out."""

    sign: str
    text: str


def history(versions: Sequence[Version]) -> SafeString:
    """The list of versions, newest first in and out; the oldest one is shown whole."""
    olds = [*(version.text for version in versions[1:]), None]
    shown = [(version, difference(old, version.text)) for version, old in zip(versions, olds, strict=True)]
    return render_to_string("admin/versions.html", {"versions": shown})


def difference(old: str | None, new: str) -> list[Line]:
    """What `new` changes, with two lines around each change."""
    if old is None:
        return [Line(" ", text) for text in new.splitlines()]
    lines = list(unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm=""))[2:]
    return [Line(line[0], "" if line.startswith("@") else line[1:]) for line in lines]
