"""Which script a letter belongs to, and which letters of other scripts pass for Latin ones (after UTS 39)."""

import unicodedata
from functools import lru_cache

LATIN = "LATIN"
EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
_ALIKE = frozenset({"CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "GREEK"})
_WIDTHS = frozenset({"FULLWIDTH", "HALFWIDTH"})

_CYRILLIC = "аеорсухіјѕһԁԛԝӏѵүАВЕЅІЈКМНОРСТХУԌԚԜҮѴ"
_GREEK = "αογικνρτυχωηϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ"
_ARMENIAN = "օոսհցզՕՍԼ"
LOOKALIKES = frozenset(_CYRILLIC + _GREEK + _ARMENIAN)
LOOKALIKE_SIGNS = frozenset("⁄∕⧸․ꓸ։꞉∶ː﹫ǀ∣\u037e\u0589\u2010\ua4fa")
LATIN_ALIKE_IN_NAMES = frozenset("ɑɡɩıȷƖǃɪ")


@lru_cache(maxsize=8192)
def script(letter: str) -> str:
    """LATIN, CYRILLIC, CJK ...; empty for what belongs to every script."""
    if not unicodedata.category(letter).startswith(("L", "M")):
        return ""
    words = unicodedata.name(letter, "").split(" ", 2)
    if words[0] in _WIDTHS and len(words) > 1:
        return words[1]
    if words[0] in {"MATHEMATICAL", "COMBINING", "MODIFIER", "VARIATION", "DOUBLE-STRUCK", "SCRIPT"}:
        return ""
    return "CJK" if words[0] == "IDEOGRAPHIC" else words[0]


@lru_cache(maxsize=8192)
def is_styled_ascii(letter: str) -> bool:
    """A letter or digit that is an ASCII one in other dress: mathematical, fullwidth, Kelvin sign..."""
    if letter.isascii() or unicodedata.category(letter) not in {"Lu", "Ll", "Nd", "Nl"}:
        return False
    folded = unicodedata.normalize("NFKC", letter)
    return folded.isascii() and folded.isalnum()


def is_fullwidth(letter: str) -> bool:
    """The fullwidth forms of ASCII, ordinary in East Asian text only."""
    return "\uff01" <= letter <= "\uff5e"


def is_disguise(letter: str, *, name: bool) -> bool:
    """Whether a letter next to Latin ones misleads. Greek symbols such as μ and Ω stand beside Latin every day."""
    family = script(letter)
    if family == "GREEK":
        return letter in LOOKALIKES
    return family in _ALIKE or (name and letter in LATIN_ALIKE_IN_NAMES)
