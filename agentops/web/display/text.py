"""Cuts a text into plain runs and visible code points, without losing a character."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import ngettext

from agentops.web.display.disguise import disguised
from agentops.web.display.hidden import PADDING, hidden

PLAIN, SECRET, NEWLINE, LOOKALIKE, PADDED = "plain", "secret", "newline", "lookalike", "padding"

WINDOW, AROUND = 65_536, 256

SECRET_TAG = re.compile(r"⟦secret (?P<kind>[a-z]+) (?P<length>\d+) hmac:(?P<hmac>[0-9a-f]{8,64})⟧")
_OWN_TAG = re.compile(SECRET_TAG.pattern + r"|⟦missing [A-Za-z_][\w.-]*⟧", re.ASCII)
_C0_NAMES = {0: "NULL", 7: "BELL", 8: "BACKSPACE", 13: "CARRIAGE RETURN", 27: "ESCAPE", 127: "DELETE"}


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text: `text` as it is, and for what must be seen by number its `code`, `name` and repetition."""

    text: str
    why: str = PLAIN
    code: str = ""
    name: str = ""
    count: int = 1

    @property
    def shown(self) -> str:
        """What the page prints."""
        if not self.code:
            return self.text
        glyph = f" {self.text[0]}" if self.why == LOOKALIKE else ""
        times = f" ×{self.count}" if self.count > 1 else ""
        return f"⟦{self.code}{glyph}{times}⟧"


def segments(text: str, *, name: bool = False, start: int = 0, stop: int | None = None) -> list[Segment]:
    """The pieces of text[start:stop], judged with what stands around; together they are that text again."""
    stop = len(text) if stop is None else min(stop, len(text))
    if len(text) > WINDOW:
        first = max(0, start - AROUND)
        window = text[first : stop + AROUND]
        return _cut(window, start - first, stop - first, name)
    return _cut(text, start, stop, name)


def _cut(text: str, start: int, stop: int, name: bool) -> list[Segment]:
    found: list[Segment] = []
    at = start
    for begin, end, why in _merged(text, _findings(text, name)):
        if end <= at or begin >= stop:
            continue
        first, last = max(begin, at), min(end, stop)
        if first > at:
            found.append(Segment(text[at:first]))
        found.append(_piece(text[first:last], why))
        at = last
    if at < stop:
        found.append(Segment(text[at:stop]))
    return found


def notices(text: str, *, name: bool = False) -> list[str]:
    """What a person should know about the text before reading it: `1 invisible character`."""
    if not text or (text.isascii() and text.isprintable() and "  " not in text):
        return []
    return _worded(_tally(text, name))


def _tally(text: str, name: bool) -> Counter[str]:
    tally: Counter[str] = Counter()
    for begin, end, why in _findings(text, name):
        if why not in (SECRET, NEWLINE):
            tally[why] += 1 if why == PADDED else end - begin
    return tally


def _worded(tally: Counter[str]) -> list[str]:
    unseen = sum(tally[why] for why in ("invisible", "direction", "control"))
    worded = []
    if unseen:
        worded.append(ngettext("%d invisible character", "%d invisible characters", unseen) % unseen)
    if spaces := tally["space"]:
        worded.append(ngettext("%d unusual space", "%d unusual spaces", spaces) % spaces)
    if padded := tally[PADDED]:
        worded.append(ngettext("%d long gap", "%d long gaps", padded) % padded)
    if alike := tally[LOOKALIKE]:
        worded.append(ngettext("%d look-alike character", "%d look-alike characters", alike) % alike)
    if signs := tally["sign"] + tally["marks"]:
        worded.append(ngettext("%d unusual character", "%d unusual characters", signs) % signs)
    return worded


def _findings(text: str, name: bool) -> list[tuple[int, int, str]]:
    """Every place that is not plain, in order: own tags first, then what they do not cover."""
    tags = (
        [(m.start(), m.end(), SECRET if m["kind"] else PLAIN) for m in _OWN_TAG.finditer(text)] if "⟦" in text else []
    )
    found = tags + list(hidden(text))
    found += [(at, at + 1, LOOKALIKE) for at in disguised(text, name=name)]
    found += [(m.start(), m.end(), PADDED) for m in PADDING.finditer(text)]
    found += [(m.start(), m.end(), NEWLINE) for m in re.finditer(r"\n", text)]
    return _apart(sorted(found, key=lambda place: (place[0], -place[1])))


def _apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for place in found:
        if not kept or place[0] >= kept[-1][1]:
            kept.append(place)
    return kept


def _merged(text: str, found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Repetitions of one hidden character become one piece with a count."""
    run: tuple[int, int, str] | None = None
    for begin, end, why in found:
        if run and why == run[2] and begin == run[1] and text[begin] == text[run[0]] and why not in (SECRET, NEWLINE):
            run = (run[0], end, why)
            continue
        if run:
            yield run
        run = (begin, end, why)
    if run:
        yield run


def _piece(text: str, why: str) -> Segment:
    if why in (SECRET, NEWLINE, PLAIN):
        return Segment(text, why)
    point = ord(text[0])
    called = unicodedata.name(text[0], "") or _C0_NAMES.get(point, "CONTROL" if point < 160 else "UNASSIGNED")
    return Segment(text, why, f"U+{point:04X}", called, len(text))
