"""Every leaf is a row with its exact text; whatever is long folds, says its size, and is there in full."""

import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given

from agentops.web.display.fields import fields
from agentops.web.display.folds import CHUNK, Chunk, chunk, fold_ids, opened, table
from agentops.web.templatetags.shown import exact_fields
from tests.domain.json_values import values
from tools.domain.canonical import Json, parse
from tools.domain.secrets import mask

CASES = json.loads((Path(__file__).parent.parent / "cases" / "display.json").read_text())
KEY = b"k" * 32


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "null", "null"),
        (True, "boolean", "true"),
        (42, "integer", "42"),
        ("42", "string", '"42"'),
        ("A-12", "string", '"A-12"'),
        (Decimal("0.10"), "number", "0.1"),
        (2512292042121000001, "integer", "2512292042121000001"),
        (10**21, "integer", "1000000000000000000000"),
        (10**200, "integer", "1e+200"),
        ("", "string", '""'),
        ({}, "object", "{}"),
        ([], "array", "[]"),
    ],
)
def test_a_leaf_keeps_its_type_and_its_digits(value: Json, kind: str, text: str) -> None:
    (row,) = fields({"x": value})
    assert (row.path, row.type, row.text) == ("x", kind, text)


@pytest.mark.parametrize("text", CASES["not_markup"])
def test_values_and_keys_are_shown_as_they_are(text: str) -> None:
    first, second = fields({text: 1, "v": text})
    assert text in first.path.replace('\\"', '"')
    assert second.text == f'"{text}"'


@pytest.mark.parametrize("case", CASES["suspicious"], ids=lambda case: str(case["why"]))
def test_hidden_characters_are_told_in_keys_and_values(case: dict[str, str]) -> None:
    for row in fields({case["text"]: 1, "v": case["text"]}):
        assert row.notices
    page = exact_fields(fields({case["text"]: 1, "v": case["text"]}))
    for code in case["must_show"]:
        assert page.count(code) >= 2


def test_titles_come_from_the_schema() -> None:
    schema = {
        "properties": {
            "who": {"$ref": "#/$defs/person"},
            "list": {"prefixItems": [{"title": "First"}], "items": {"title": "Other"}},
            "loop": {"$ref": "#/properties/loop"},
        },
        "additionalProperties": {"title": "Extra"},
        "$defs": {"person": {"properties": {"name": {"title": "Name"}}}},
    }
    rows = fields({"who": {"name": "x"}, "list": [1, 2], "loop": 1, "z": 0}, schema)
    assert [(row.path, row.title) for row in rows] == [
        ("who.name", "Name"),
        ("list[0]", "First"),
        ("list[1]", "Other"),
        ("loop", ""),
        ("z", "Extra"),
    ]


def test_every_leaf_has_its_json_pointer() -> None:
    assert [row.pointer for row in fields({"a": [{"b/c": 1}, 2], "~": {}})] == ["/a/0/b~1c", "/a/1", "/~0"]


@given(values)
def test_no_two_leaves_share_a_path(value: Json) -> None:
    paths = [row.path for row in fields(value)]
    assert len(set(paths)) == len(paths) > 0


def large(kind: str) -> Json:
    deep: Json = {"end": 1}
    for _ in range(49):
        deep = {"level": deep}
    made: dict[str, Json] = {
        "string": {"s": "x" * 1_000_000},
        "keys": {f"key{n}": n for n in range(500)},
        "depth": deep,
        "array": {"items": list(range(20_000))},
        "empty_object": {},
    }
    return made[kind]


@pytest.mark.parametrize("case", CASES["large"], ids=lambda case: str(case["kind"]))
def test_a_page_stays_small_and_quick_and_reaches_everything(case: dict[str, str]) -> None:
    value = large(case["kind"])
    begun = time.perf_counter()
    rows = fields(value)
    page = exact_fields(rows, url="/values")
    assert time.perf_counter() - begun < 5
    assert len(page) < 400_000
    more = table(rows).more
    assert len(table(rows).rows) + sum(fold.last - fold.first + 1 for fold in more) == len(rows)
    for fold in [*more[:1], *more[-1:]]:
        assert opened(value, None, fold.id) == rows[fold.first - 1 : fold.last]


def test_a_long_string_is_read_in_parts_without_a_gap() -> None:
    text = "aé😀" * 50_000
    read, at, shown = "", 0, 0
    while True:
        part = opened({"s": text}, None, "s", at)
        assert isinstance(part, Chunk)
        assert (part.bytes_before, part.bytes_total) == (shown, len(text.encode()) + 2)
        read += part.text[part.start : part.stop]
        shown += part.bytes_shown
        if part.next is None:
            break
        at = part.next
    assert read == f'"{text}"'
    assert chunk("s", text, 10**9).text[CHUNK:] == text[CHUNK:]


def test_what_folds_says_how_much_of_it_is_shown() -> None:
    rows = fields({"short": "x" * 600, "long": "x" * 601})
    assert [row.fold for row in rows] == [False, True]
    assert "200 of 601 bytes" in exact_fields(rows)
    assert fold_ids(rows) == {"long"}
    assert fold_ids(fields([1] * 401)) == {"rows 201-400", "rows 401-401"}


def test_an_unknown_fold_holds_nothing() -> None:
    assert opened({"a": 1}, None, "b") is None


@pytest.mark.parametrize("case", CASES["secrets"], ids=lambda case: str(case["never_shown"]))
def test_secrets_are_shown_as_tags(case: dict[str, Json]) -> None:
    value = parse(json.dumps(case.get("args") or case["result"]))
    page = exact_fields(fields(mask(value, {}, key=KEY).value))
    never = case["never_shown"]
    assert isinstance(never, list)
    for secret in never:
        assert str(secret) not in page
    assert "exact__secret" in page
