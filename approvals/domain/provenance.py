"""Where the values of a call came from: what the run was given or had read in which they stand, wholly or in part.

It explains and never judges: a value that stands nowhere may have been derived, encoded or made up.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice

from tools.domain.canonical import Json, canonical, escape

MOST_LEAVES = 200
"""Of a call, from the first on; what comes later is not traced."""
MOST_READ = 400_000
"""Characters of the sources, from the first on."""
MOST_PAIRS = 200_000
"""Comparisons of a value with a text of a source."""
MOST_FOUND = 4
SHORTEST_PART = 4
SHORTEST_HELD = 6
"""Shorter texts stand somewhere in almost every other."""
AROUND = 60
LONGEST_PASSAGE = 200

SAME, WITHIN, HOLDS = "same", "within", "holds"
_RANK = {SAME: 0, WITHIN: 1, HOLDS: 2}


@dataclass(frozen=True)
class Source:
    """What the run was given, or had read. `about`: what tells it from the others. `value`: JSON, or one text."""

    about: Mapping[str, Json]
    value: Json


@dataclass(frozen=True)
class _Leaf:
    """One text in a source; `at`: a JSON pointer to it."""

    source: int
    at: str
    text: str

    @cached_property
    def plain(self) -> str:
        return _plain(self.text)


@dataclass(frozen=True)
class _Match:
    """How one leaf of a source and a value of the call meet; `passage`: the part of the leaf, and what is around it."""

    leaf: _Leaf
    how: str
    exact: bool
    passage: tuple[str, str, str]


def trace(args: Json, sources: Sequence[Source]) -> list[Json]:
    """Each leaf of `args` that says enough to be looked for, in order, with the places where it stands.

    First those that are the value itself, then those that have it within, then those that it holds; among these in the
    order of `sources`.

    `[{"path": "/account", "found": [{...about, "at": "/account", "match": "same", "exact": true,
    "before": "", "text": "DE02 …", "after": ""}]}]`. `exact`: spelled in the same way, not only to the same effect.
    """
    wanted = list(islice(_texts(args), MOST_LEAVES))
    read = _read(sources, MOST_PAIRS // max(1, len(wanted)))
    return [{"path": path, "found": [_told(m, sources) for m in _matches(text, read)]} for path, text in wanted]


def _read(sources: Sequence[Source], most: int) -> list[_Leaf]:
    """The texts of the sources, as far as there is time for them."""
    found = (_Leaf(number, at, text) for number, source in enumerate(sources) for at, text in _texts(source.value))
    read, left = [], MOST_READ
    for leaf in islice(found, most):
        left -= len(leaf.text)
        if left < 0:
            break
        read.append(leaf)
    return read


def _matches(text: str, read: Sequence[_Leaf]) -> list[_Match]:
    """The best of each source."""
    plain = _plain(text)
    best: dict[int, _Match] = {}
    for leaf in read:
        match = _match(text, plain, leaf)
        known = best.get(leaf.source)
        if match is not None and (known is None or _worth(match) < _worth(known)):
            best[leaf.source] = match
    return sorted(best.values(), key=lambda m: (_RANK[m.how], m.leaf.source))[:MOST_FOUND]


def _worth(match: _Match) -> tuple[int, bool, int]:
    return _RANK[match.how], not match.exact, -len(match.passage[1])


def _match(text: str, plain: str, leaf: _Leaf) -> _Match | None:
    if plain == leaf.plain:
        return _Match(leaf, SAME, text == leaf.text, ("", leaf.text, ""))
    if len(plain) >= SHORTEST_PART and _stands_in(plain, leaf.plain):
        place = leaf.text.find(text)
        around = _around(leaf.text, plain) if place < 0 else _cut(leaf.text, place, place + len(text))
        return _Match(leaf, WITHIN, place >= 0, around)
    if len(leaf.plain) >= SHORTEST_HELD and _stands_in(leaf.plain, plain):
        return _Match(leaf, HOLDS, leaf.text in text, ("", leaf.text, ""))
    return None


def _stands_in(part: str, whole: str) -> bool:
    """As words of their own: `art` does not stand in `party`."""
    return part in whole and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole) is not None


def _around(text: str, plain: str) -> tuple[str, str, str]:
    """The passage of `text` that is `plain` to the same effect."""
    spelled, places = "", []
    for place, character in enumerate(text):
        more = _plain(character) or (" " if character.isspace() and not spelled.endswith(" ") else "")
        spelled += more
        places += [place] * len(more)
    start = spelled.find(plain)
    return ("", text, "") if start < 0 else _cut(text, places[start], places[start + len(plain) - 1] + 1)


def _cut(text: str, start: int, stop: int) -> tuple[str, str, str]:
    return text[max(0, start - AROUND) : start], text[start:stop], text[stop : stop + AROUND]


def _told(match: _Match, sources: Sequence[Source]) -> Json:
    before, text, after = match.passage
    return {
        **sources[match.leaf.source].about,
        "at": match.leaf.at,
        "match": match.how,
        "exact": match.exact,
        "before": before,
        "text": text[:LONGEST_PASSAGE],
        "after": "" if len(text) > LONGEST_PASSAGE else after,
    }


def _texts(value: Json) -> Iterator[tuple[str, str]]:
    return ((at, text) for at, leaf in _leaves(value) if (text := _text(leaf)) is not None)


def _leaves(value: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    """Everything that has nothing within, with a JSON pointer (RFC 6901)."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{pointer}/{escape(key)}")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _leaves(part, f"{pointer}/{index}")
    else:
        yield pointer, value


def _text(value: Json) -> str | None:
    """What can be looked for. True, false, null and blank texts stand everywhere."""
    if isinstance(value, str):
        return value if _plain(value) else None
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return canonical(value)
    return None


def _plain(text: str) -> str:
    """To the same effect: compatibility forms, case, spacing and what cannot be seen make no difference."""
    seen = unicodedata.normalize("NFKC", text)
    if not seen.isascii():
        seen = "".join(c for c in seen if unicodedata.category(c) != "Cf")
    return " ".join(seen.casefold().split())
