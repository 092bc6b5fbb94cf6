"""What cannot be seen is shown by its number; what people write every day stays as it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentops.web.display.text import PLAIN, SECRET, notices, segments
from agentops.web.templatetags.shown import exact_parts, exact_plain, exact_text
from tools.domain.templates import Text, Verbatim

CASES = json.loads((Path(__file__).parent.parent / "cases" / "display.json").read_text())


@pytest.mark.parametrize("case", CASES["suspicious"], ids=lambda case: str(case["why"]))
@pytest.mark.parametrize("name", [False, True])
def test_hidden_and_misleading_characters_show_their_number(case: dict[str, Any], name: bool) -> None:
    page = exact_text(case["text"], name)
    for code in case["must_show"]:
        assert code in page
    assert notices(case["text"], name=name)
    assert "".join(piece.text for piece in segments(case["text"], name=name)) == case["text"]


@pytest.mark.parametrize(
    "text",
    [
        *CASES["plain"],
        "日本語のテキスト、Tシャツ",
        "東京　大阪",
        "会員Ａ／Ｂ",
        "한국어",
        "привет мир, это а и о",
        "5 μm and 3 kΩ, π ≈ 3.14",
        "👍🏽 ❤️ 1️⃣ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می‌خواهم",
        "क्‍ष हिन्दी",
        "ไทย",
        "m²",
        "two\nlines\tand a tab",
    ],
)
def test_ordinary_writing_stays_as_it_is(text: str) -> None:
    assert {piece.code for piece in segments(text)} == {""}
    assert notices(text) == []


@pytest.mark.parametrize("text", CASES["not_markup"])
def test_nothing_becomes_markup(text: str) -> None:
    page = exact_text(text)
    assert "<a" not in page
    assert "<b " not in page
    assert "<script" not in page
    assert "<img" not in page
    assert {piece.why for piece in segments(text)} == {PLAIN}
    assert "".join(piece.text for piece in segments(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("аррӏе.com", "⟦U+0430 а⟧⟦U+0440 р ×2⟧⟦U+04CF ӏ⟧⟦U+0435 е⟧.com"),
        ("Привeт", "Прив⟦U+0065 e⟧т"),
        ("pay 𝐦𝐞", "pay ⟦U+1D426 𝐦⟧⟦U+1D41E 𝐞⟧"),
        ("ｐａｙ", "⟦U+FF50 ｐ⟧⟦U+FF41 ａ⟧⟦U+FF59 ｙ⟧"),
        ("https://bank.example⁄evil", "https://bank.example⟦U+2044 ⁄⟧evil"),
        ("pay" + " " * 40 + "mallory", "pay⟦U+0020 ×40⟧mallory"),
        ("a\u00a0b", "a⟦U+00A0⟧b"),
        ("z" + "\u0301" * 7, "z" + "\u0301" * 4 + "⟦U+0301 ×3⟧"),
        ("\u0301x", "⟦U+0301⟧x"),
        ("⟦U+202E⟧", "⟦U+27E6⟧U+202E⟦U+27E7⟧"),
        ("我\u200d你", "我⟦U+200D⟧你"),
        ("x\ufeff\ue000", "x⟦U+FEFF⟧⟦U+E000⟧"),
        ("send сору to me", "send ⟦U+0441 с⟧⟦U+043E о⟧⟦U+0440 р⟧⟦U+0443 у⟧ to me"),
    ],
)
def test_tricks_are_taken_apart(text: str, shown: str) -> None:
    assert exact_plain(text) == shown
    assert notices(text)


def test_names_are_read_more_strictly() -> None:
    assert notices("сору") == []
    assert notices("сору", name=True) == ["4 look-alike characters"]


def test_what_hides_is_counted_by_kind() -> None:
    text = "a\u200b\u202e b\u00a0 pаy" + "\n" * 9
    assert notices(text) == ["2 invisible characters", "1 unusual space", "1 long gap", "1 look-alike character"]


def test_only_whole_tags_are_shown_as_secrets() -> None:
    tag = "⟦secret string 7 hmac:1f9c0a2b3c4d⟧"
    assert [piece.why for piece in segments(f"Bearer {tag}!")] == [PLAIN, SECRET, PLAIN]
    assert "secret string, 7 characters" in exact_text(tag)
    assert "U+27E6" in exact_text("⟦secret string 7⟧")


def test_inserted_values_stand_apart_in_a_sentence() -> None:
    page = exact_parts([Text("Pay "), Verbatim("<b>\u202e", "args.to")])
    assert '<span class="value"><bdi class="exact" dir="ltr">&lt;b&gt;' in page
    assert "U+202E" in page


@given(st.text(max_size=60), st.integers(0, 70), st.integers(0, 70), st.booleans())
def test_no_character_is_lost_or_added(text: str, start: int, stop: int, name: bool) -> None:
    assert "".join(piece.text for piece in segments(text, name=name)) == text
    first, last = sorted((start, stop))
    assert "".join(piece.text for piece in segments(text, name=name, start=first, stop=last)) == text[first:last]
    segments(text, name=name)
    notices(text, name=name)


def test_a_part_of_a_very_long_text_is_cut_exactly() -> None:
    text = "שלום\u200b " * 100_000
    assert "".join(piece.text for piece in segments(text, start=300_000, stop=300_500)) == text[300_000:300_500]
    assert notices(text) == ["100000 invisible characters"]
