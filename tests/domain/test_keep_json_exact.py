"""Equal values have one canonical text, different ones never share it, and what has no exact value is refused."""

import json
from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum, StrEnum
from pathlib import Path

import pytest
from django.utils.safestring import SafeString

from runs.domain.fingerprint import fingerprint
from tools.domain.canonical import canonical, exact, parse, parse_object, plain, pointer
from tools.domain.errors_values import (
    DuplicateKey,
    InvalidJson,
    LoneSurrogate,
    NotAnObject,
    NotExact,
    NotFinite,
    NumberTooLong,
    TooDeep,
    TooManyLeaves,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "canonical.json").read_text())


def of(raw: str) -> str:
    return fingerprint(
        tenant="t", principal="p", tool="x", tool_version="v", resource_scope="t", args_for_digest=parse_object(raw)
    )


@pytest.mark.parametrize(("one", "other"), CASES["same"])
def test_spelling_does_not_change_a_fingerprint(one: str, other: str) -> None:
    assert of(one) == of(other)
    assert canonical(parse(one)) == canonical(parse(other))


@pytest.mark.parametrize(("one", "other"), CASES["different"])
def test_a_value_changes_a_fingerprint(one: str, other: str) -> None:
    assert of(one) != of(other)


@pytest.mark.parametrize("raw", CASES["invalid"])
def test_what_has_no_exact_value_is_refused(raw: str) -> None:
    with pytest.raises(InvalidJson) as refused:
        parse_object(raw)
    assert refused.value.code == "invalid_arguments"
    assert refused.value.detail


@pytest.mark.parametrize("case", CASES["exact"], ids=lambda case: str(case["raw"]))
def test_values_survive_reading_and_writing(case: dict[str, str]) -> None:
    assert canonical(parse(canonical(parse(case["raw"])))) == canonical(parse(case["raw"]))
    if case["raw"][2:4] == "id":
        assert canonical(parse(case["raw"])) == f'{{"id":{case["shown"]}}}'


@pytest.mark.parametrize(
    ("raw", "fault", "place"),
    [
        ('{"n":[1,NaN]}', NotFinite, "/n/1"),
        ('{"x":[{"a":1,"a":2}]}', DuplicateKey, "/x/0/a"),
        ('{"a/b":{"~":1,"~":1}}', DuplicateKey, "/a~1b/~0"),
        ('{"s":["\\ud800"]}', LoneSurrogate, "/s/0"),
        ('{"\\ud800":1}', LoneSurrogate, ""),
        ('{"n":1e309}', NumberTooLong, "/n"),
        ('{"n":1e-309}', NumberTooLong, "/n"),
        ('{"n":' + "1" * 1001 + "}", NumberTooLong, "/n"),
        ('{"n":1.' + "1" * 1000 + "}", NumberTooLong, "/n"),
        ('{"n":' + "1" * 900 + "e200}", NumberTooLong, "/n"),
        ("[" * 65 + "]" * 65, TooDeep, "/0" * 64),
        ("[" * 100_000, TooDeep, ""),
        ("[" + "1," * 50_000 + "1]", TooManyLeaves, ""),
        ("1 2", InvalidJson, ""),
        (b'"\xff"', InvalidJson, ""),
        (b"\xef\xbb\xbf{}", InvalidJson, ""),
    ],
)
def test_a_refusal_names_the_place(raw: str | bytes, fault: type[InvalidJson], place: str) -> None:
    with pytest.raises(fault) as refused:
        parse(raw)
    assert refused.value.pointer == place


def test_a_lone_surrogate_that_is_not_an_escape_is_refused() -> None:
    with pytest.raises(LoneSurrogate):
        parse('"\ud800"')


def test_an_escaped_pair_is_one_character() -> None:
    assert parse('["\\ud83d\\ude00"]') == ["😀"]


@pytest.mark.parametrize(
    ("raw", "spelled"),
    [
        ("1.0", "1"),
        ("-0.0", "0"),
        ("0e7", "0"),
        ("1e2", "100"),
        ("12.50", "12.5"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("-1e21", "-1e+21"),
        ("123456789012345678901234", "123456789012345678901234"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.5e-300", "1.5e-300"),
        ("1" + "0" * 400, "1" + "0" * 400),
        ("0." + "0" * 400 + "1", "0." + "0" * 400 + "1"),
        ("9007199254740993", "9007199254740993"),
        ("1.0000000000000001", "1.0000000000000001"),
    ],
)
def test_a_number_has_one_spelling(raw: str, spelled: str) -> None:
    assert canonical(parse(raw)) == spelled
    assert canonical(parse(spelled)) == spelled


def test_doubles_are_spelled_as_the_standard_spells_them() -> None:
    for raw, spelled in [("333333333.33333329", "333333333.33333329"), ("1E30", "1e+30"), ("2e-3", "0.002")]:
        assert canonical(parse(raw)) == spelled
    assert canonical(parse("0.000000000000000000000000001")) == "1e-27"


def test_keys_are_ordered_by_utf16_units() -> None:
    assert list(json.loads(canonical({"\ufb33": 1, "😀": 2, "a": 3}))) == ["a", "😀", "\ufb33"]


def test_strings_are_escaped_as_little_as_possible() -> None:
    assert canonical('é"\\/\n\u0000\u001f\u007f\u2028') == '"é\\"\\\\/\\n\\u0000\\u001f\x7f\u2028"'


@pytest.mark.parametrize("value", [1.5, {1: 2}, {"a": object()}, b"x", {"a", "b"}])
def test_what_is_not_exact_json_is_never_written(value: object) -> None:
    with pytest.raises(NotExact):
        canonical(value)


@pytest.mark.parametrize(
    ("value", "fault", "place"),
    [
        ({"a": [Decimal("NaN")]}, NotFinite, "/a/0"),
        ({"a": Decimal("1e5000")}, NumberTooLong, "/a"),
        ([10**1000], NumberTooLong, "/0"),
        ({"a": "\ud800"}, LoneSurrogate, "/a"),
        ({"\ud800": 1}, LoneSurrogate, ""),
        ([1, 2.5], NotExact, "/1"),
        ({"é": {2: 1}}, NotExact, "/é"),
    ],
)
def test_writing_names_the_place_too(value: object, fault: type[InvalidJson], place: str) -> None:
    with pytest.raises(fault) as refused:
        canonical(value)
    assert refused.value.pointer == place


def test_kinds_of_text_and_number_are_written_as_what_they_are() -> None:
    class Risk(StrEnum):
        READ = "read"

    class Level(IntEnum):
        ONE = 1

    value = {"s": SafeString("<b>"), "e": Risk.READ, "i": Level.ONE, "t": (1, None, False), "d": OrderedDict(b=2)}
    assert canonical(value) == '{"d":{"b":2},"e":"read","i":1,"s":"<b>","t":[1,null,false]}'


def test_endless_nesting_in_memory_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TooDeep):
        canonical(value)


def test_arguments_are_an_object() -> None:
    with pytest.raises(NotAnObject):
        parse_object("[]")
    assert parse_object('{"a":{}}') == {"a": {}}


def test_large_values_keep_every_byte() -> None:
    for value in ({"s": "é" * 500_000}, {f"k{n}": n for n in range(500)}, {"a": list(range(20_000))}, {}):
        assert parse(canonical(value)) == value
    deep = "[" * 50 + "]" * 50
    assert canonical(parse(deep)) == deep


def test_text_for_people_keeps_the_order_of_keys() -> None:
    assert exact({"b": Decimal("0.10"), "a": (1, True, None)}) == '{"b":0.1,"a":[1,true,null]}'


def test_other_writers_get_fractions_as_text() -> None:
    assert plain({"a": [Decimal("0.10"), 2, "x"]}) == {"a": ["0.1", 2, "x"]}


def test_pointers_escape_what_they_use_themselves() -> None:
    assert pointer(["a/b", "~", 0]) == "/a~1b/~0/0"
    assert pointer([]) == ""


def test_an_escaped_half_in_a_harmless_place_is_accepted() -> None:
    assert parse('{"a":["\\\\ud800", 1, {}, "x"]}') == {"a": ["\\ud800", 1, {}, "x"]}
