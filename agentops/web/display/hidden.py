"""Finds the characters that a person would not see, or would see wrongly, one by one."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

INVISIBLE, DIRECTION, CONTROL, SPACE, SIGN, MARKS = "invisible", "direction", "control", "space", "sign", "marks"

_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f")
_VISIBLE_FORMAT = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_BRACKETS = frozenset("⟦⟧")
_EMOJI_OF_TEXT = frozenset("‼⁉〰〽ℹ#*0123456789©®™")
_JOINERS = frozenset("\u200c\u200d")
_FLAGS = ("gbeng", "gbsct", "gbwls")
_MOST_MARKS = 4

_CANDIDATE = re.compile(r"([^\n\t -~¡-¬®-ʯΑ-ωА-яא-ת\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3])\1*")
PADDING = re.compile(r" {16,}|\n{5,}|\t{8,}")


def hidden(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and reason of each run of one character that must be shown by its number."""
    for found in _CANDIDATE.finditer(text):
        letter = found.group(1)
        if not _needs_context(letter):
            if reason := _own_reason(letter):
                yield found.start(), found.end(), reason
            continue
        for at in range(found.start(), found.end()):
            if reason := _reason(text, at):
                yield at, at + 1, reason


@lru_cache(maxsize=4096)
def _needs_context(letter: str) -> bool:
    return letter in _JOINERS or letter == "\u3000" or letter >= "\U000e0020" or unicodedata.category(letter)[0] == "M"


def _reason(text: str, at: int) -> str:
    letter = text[at]
    own = _own_reason(letter)
    if letter in _JOINERS:
        return "" if _joins(text, at) else own
    if _is_selector(letter):
        return "" if _selects(text, at) else INVISIBLE
    if "\U000e0020" <= letter <= "\U000e007f":
        return "" if _is_flag(text, at) else INVISIBLE
    if letter == "\u3000":
        return "" if _is_single_wide_space(text, at) else own
    if own or unicodedata.category(letter)[0] != "M":
        return own
    return MARKS if _is_loose(text, at) else ""


@lru_cache(maxsize=4096)
def _own_reason(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter in _DIRECTION:
        return DIRECTION
    if letter in _BLANK or (category == "Cf" and letter not in _VISIBLE_FORMAT):
        return INVISIBLE
    if letter in _BRACKETS or category in {"Co", "Cn", "Cs"}:
        return SIGN
    if category in {"Zl", "Zp", "Zs"}:
        return SPACE
    return CONTROL if category == "Cc" else ""


def _is_selector(letter: str) -> bool:
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def _selects(text: str, at: int) -> bool:
    """Only the two emoji selectors right after a symbol change what is seen."""
    return text[at] in "\ufe0e\ufe0f" and at > 0 and _is_symbol(text[at - 1])


@lru_cache(maxsize=4096)
def _is_symbol(letter: str) -> bool:
    return letter in _EMOJI_OF_TEXT or (letter > "\u00ff" and unicodedata.category(letter) in {"So", "Sm"})


def _joins(text: str, at: int) -> bool:
    """A joiner is at home between emoji, after an Indic virama, and between Arabic-like letters."""
    before, after = text[at - 1] if at else "", text[at + 1 : at + 2]
    if not before or not after:
        return False
    if text[at] == "\u200d" and _ends_emoji(text, at) and _is_symbol(after):
        return True
    if unicodedata.combining(before) == 9:
        return unicodedata.category(after).startswith("L")
    return _joins_cursive(before) and _joins_cursive(after)


def _ends_emoji(text: str, at: int) -> bool:
    last = text[at - 1]
    if (last == "\ufe0f" or "\U0001f3fb" <= last <= "\U0001f3ff") and at > 1:
        return _is_symbol(text[at - 2]) and text[at - 2] > "\u00ff"
    return _is_symbol(last) and last > "\u00ff"


def _joins_cursive(letter: str) -> bool:
    return unicodedata.bidirectional(letter) == "AL" or (
        unicodedata.name(letter, "").startswith(("ARABIC", "SYRIAC", "MONGOLIAN", "NKO"))
    )


def _is_flag(text: str, at: int) -> bool:
    start = at
    while start > 0 and "\U000e0020" <= text[start - 1] <= "\U000e007f" and at - start < 8:
        start -= 1
    tag = "".join(chr(ord(letter) - 0xE0000) for letter in text[start : start + 5] if ord(letter) > 0xE0000)
    return (
        tag in _FLAGS
        and at < start + 6
        and text[start - 1 : start] == "\U0001f3f4"
        and text[start + 5 : start + 6] == "\U000e007f"
    )


def _is_single_wide_space(text: str, at: int) -> bool:
    around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return bool(around) and all(
        unicodedata.east_asian_width(letter) in "WF" and letter != "\u3000" for letter in around
    )


def _is_loose(text: str, at: int) -> bool:
    """A combining mark without a letter of its own, or one of a heap that hides the letter."""
    start = at
    while start > 0 and at - start <= _MOST_MARKS and unicodedata.category(text[start - 1])[0] == "M":
        start -= 1
    return start == 0 or at - start >= _MOST_MARKS or unicodedata.category(text[start - 1])[0] in "CZ"
