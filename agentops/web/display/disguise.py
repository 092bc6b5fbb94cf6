"""Finds letters of one script that pass for letters of another inside a word, a host or a name."""

import re
from collections.abc import Iterator

from agentops.web.display.scripts import (
    EAST_ASIAN,
    LATIN,
    LOOKALIKE_SIGNS,
    LOOKALIKES,
    is_disguise,
    is_fullwidth,
    is_styled_ascii,
    script,
)

_WORD = re.compile(r"[\w\u0300-\u036f]+")
_SIGNS = re.compile(
    f"[{re.escape(''.join(sorted(LOOKALIKE_SIGNS)))}\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e]"
)
_HOST_MARK = frozenset(".@/:")


def disguised(text: str, *, name: bool = False) -> Iterator[int]:
    """Positions of the misleading letters. `name`: the text is a key, a tool or a host, so the rule is stricter."""
    letters = set(text) if not text.isascii() else set()
    east_asian = any(script(letter) in EAST_ASIAN for letter in letters)
    for found in _SIGNS.finditer(text):
        if not (east_asian and is_fullwidth(found.group())):
            yield found.start()
    if any(is_disguise(letter, name=True) or is_styled_ascii(letter) for letter in letters):
        yield from _in_words(text, foreign=name or _is_latin_text(letters), name=name, east_asian=east_asian)


def _in_words(text: str, *, foreign: bool, name: bool, east_asian: bool) -> Iterator[int]:
    for found in _WORD.finditer(text):
        word = found.group()
        if not word.isascii():
            strict = name or _is_in_host(text, found.start(), found.end())
            for offset in _in_word(word, strict=strict, foreign=foreign, east_asian=east_asian):
                yield found.start() + offset


def _in_word(word: str, *, strict: bool, foreign: bool, east_asian: bool) -> Iterator[int]:
    latin = [at for at, letter in enumerate(word) if script(letter) == LATIN]
    other = [at for at, letter in enumerate(word) if is_disguise(letter, name=strict)]
    for at, letter in enumerate(word):
        if is_styled_ascii(letter) and not (is_fullwidth(letter) and east_asian):
            yield at
    if latin and other:
        yield from other if strict or len(latin) >= len(other) else latin
    elif other and _is_whole_lookalike(word) and (foreign or strict):
        yield from other


def _is_whole_lookalike(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    return len(letters) > 1 and all(letter in LOOKALIKES for letter in letters)


def _is_latin_text(letters: set[str]) -> bool:
    """Latin words and no letter that only the other alphabet has: a lookalike word in it is no foreign word."""
    return any(script(letter) == LATIN for letter in letters) and not any(
        script(letter) in {"CYRILLIC", "GREEK", "ARMENIAN"} and letter not in LOOKALIKES for letter in letters
    )


def _is_in_host(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after = text[end : end + 2]
    dotted = after[:1] in _HOST_MARK and after[:1] != "" and after[1:2].isalnum()
    return dotted or (before in {"@", "/", "."} and before != "")
