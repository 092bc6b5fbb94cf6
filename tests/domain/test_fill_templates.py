"""Templates insert values word for word, once, and show what is missing or cut."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.domain.errors_values import InvalidTemplate
from tools.domain.templates import Text, Verbatim, check, parts, places, render, split

CONTEXT: dict[str, Any] = {
    "args": {
        "id": "INV-1",
        "n": 2512292042121000001,
        "amount": Decimal("12.50"),
        "list": [{"x": "first"}, None, True],
        "evil": "{args.id} {{x}}",
        "obj": {"b": 1, "a": ""},
    }
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Pay {args.id}", "Pay INV-1"),
        ("{args.n} {args.amount}", "2512292042121000001 12.5"),
        ("{args.list.0.x} {args.list.1} {args.list.2}", "first null true"),
        ("{args.obj}", '{"a":"","b":1}'),
        ("{args.evil}", "{args.id} {{x}}"),
        ("{{args.id}} {{}}", "{args.id} {}"),
        ("{args.no.way}", "⟦missing args.no.way⟧"),
        ("{args.list.9}", "⟦missing args.list.9⟧"),
        ("{args.id.upper}", "⟦missing args.id.upper⟧"),
        ("", ""),
        ("no braces", "no braces"),
    ],
)
def test_values_are_inserted_word_for_word(template: str, text: str) -> None:
    check(template, {"args"})
    assert render(template, CONTEXT) == text


def test_a_long_value_shows_that_it_was_cut() -> None:
    assert render("{a}", {"a": "x" * 200}) == "x" * 200
    assert render("{a}", {"a": "x" * 212}) == "x" * 200 + "…[12 more]"
    assert parts("{a}", {"a": "x" * 212}) == [Verbatim("x" * 200 + "…[12 more]", "a", cut=True)]


def test_words_and_values_are_told_apart() -> None:
    assert parts("Pay {args.id}!", CONTEXT) == [Text("Pay "), Verbatim("INV-1", "args.id"), Text("!")]
    assert parts("{x}", {}) == [Verbatim("⟦missing x⟧", "x", missing=True)]


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ("Pay {", 4),
        ("Pay }", 4),
        ("{args.id|upper}", 0),
        ("{args['id']}", 0),
        ("{args.id!r}", 0),
        ("{args.__class__.x}{ }", 18),
        ("{}", 0),
        ("a {task.id}", 2),
        ("{args..id}", 0),
    ],
)
def test_anything_but_a_dotted_path_is_refused_with_its_place(template: str, position: int) -> None:
    with pytest.raises(InvalidTemplate) as refused:
        check(template, {"args"})
    assert refused.value.position == position
    assert f"character {position + 1}" in str(refused.value)


def test_a_path_reaches_data_only() -> None:
    assert render("{args.__class__}", CONTEXT) == "⟦missing args.__class__⟧"


@given(st.text(max_size=80))
def test_inserted_text_is_never_read_again(text: str) -> None:
    assert render("{a}{a}", {"a": text}) == text * 2


@given(st.text(), st.text(), st.text(), st.text())
def test_a_rendered_sentence_splits_into_the_same_words_and_values(a: str, b: str, word: str, tail: str) -> None:
    template = (
        "{args.a}" + word.replace("{", "{{").replace("}", "}}") + "{args.b}" + tail.replace("{", "").replace("}", "")
    )
    found = parts(template, {"args": {"a": a, "b": b}})
    text = render(template, {"args": {"a": a, "b": b}})
    again = split(text, places(found))
    assert "".join(part.text for part in again) == text
    values = [part.text for part in found if isinstance(part, Verbatim)]
    assert [part.text for part in again if isinstance(part, Verbatim)] == values


def test_a_sentence_without_marks_is_all_words() -> None:
    assert split("Pay it", []) == [Text("Pay it")]
