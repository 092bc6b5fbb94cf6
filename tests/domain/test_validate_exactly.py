"""Schemas judge numbers of any size exactly, fetch nothing, and never repeat a value in their complaints."""

import time
from decimal import Decimal
from typing import Any

import pytest

from tools.domain.canonical import Json, parse
from tools.domain.errors_values import InvalidSchema
from tools.domain.schema import MAX_FAULTS, MAX_SCHEMA, check_schema, validate

BIG = 9007199254740993


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"const": BIG}, BIG, BIG - 1),
        ({"enum": [BIG, 1]}, BIG, BIG - 1),
        ({"maximum": BIG}, BIG, BIG + 1),
        ({"maximum": BIG}, BIG, Decimal("9007199254740993.5")),
        ({"minimum": BIG}, BIG, BIG - 1),
        ({"exclusiveMaximum": BIG}, BIG - 1, BIG),
        ({"multipleOf": 2}, BIG - 1, BIG),
        ({"multipleOf": 7}, 7 * 10**300, 7 * 10**300 + 1),
        ({"multipleOf": 1}, 5, Decimal("1.00000000000000000001")),
        ({"multipleOf": Decimal("0.01")}, Decimal("12.50"), Decimal("12.505")),
        ({"multipleOf": Decimal("0.01")}, 10**200, Decimal("0.1000000000000000000000001")),
        ({"maximum": 1}, 1, Decimal("1.0000000000000001")),
        ({"minimum": 1}, 1, Decimal("0.99999999999999999999")),
        ({"const": 1}, 1, Decimal("1.00000000000000000001")),
        ({"const": Decimal("1.50")}, Decimal("1.5"), Decimal("1.5000000000000000000001")),
        ({"type": "integer"}, 10**400, Decimal("0.5")),
        ({"type": "number"}, Decimal("0.1"), "0.1"),
        ({"uniqueItems": True}, [BIG, BIG - 1], [BIG, BIG]),
        ({"multipleOf": 2}, "not a number", 3),
        ({"multipleOf": 2}, True, 3),
    ],
)
def test_numbers_are_judged_by_their_exact_value(schema: dict[str, Any], good: Json, bad: Json) -> None:
    assert validate(schema, good) == []
    assert len(validate(schema, bad)) == 1


def test_a_fault_names_the_place_and_keeps_the_value_to_itself() -> None:
    schema = {
        "properties": {"a/b": {"items": {"type": "integer"}}, "p": {"pattern": "^x$"}, "e": {"enum": ["x"]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    faults = validate(schema, {"a/b": [1, "hunter2"], "p": "hunter2", "e": "hunter2", "extra": "hunter2"})
    assert {fault.pointer for fault in faults} >= {"/a~1b/1", "/p", "/e", ""}
    assert "hunter2" not in repr(faults)


def test_at_most_twenty_faults_are_told() -> None:
    assert len(validate({"items": {"type": "string"}}, list(range(500)))) == MAX_FAULTS


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "object", "$ref": "https://else.example/schema"}, "/$ref"),
        ({"type": "object", "properties": {"a/b": {"$ref": "file:///etc/passwd"}}}, "/properties/a~1b/$ref"),
        ({"type": "object", "allOf": [{"$dynamicRef": "other.json#x"}]}, "/allOf/0/$dynamicRef"),
        ({"type": "string"}, "/type"),
        ({}, "/type"),
        ({"type": "object", "properties": {"a": {"type": "nope"}}}, "/properties/a/type"),
        ({"type": "object", "properties": {"a": {"multipleOf": 0}}}, "/properties/a/multipleOf"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "/properties/a/pattern"),
        ({"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}}, "/properties/a/pattern"),
        ({"type": "object", "$ref": "#/nowhere"}, ""),
        ({"type": "object", "description": "x" * MAX_SCHEMA}, ""),
    ],
)
def test_an_unusable_schema_is_refused_with_its_place(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        check_schema(schema, root_object=True)
    assert refused.value.pointer == place
    assert refused.value.detail


def test_an_ordinary_schema_is_accepted() -> None:
    check_schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}, "ref": {"const": {"$ref": "https://a.example"}}},
            "$defs": {"n": {"type": "integer"}},
        },
        root_object=True,
    )
    check_schema({"type": "string"})


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}, "type": "object"}}, "$ref": "#/$defs/n"}
    assert validate(schema, parse('{"next":{"next":{}}}')) == []
    assert validate(schema, parse('{"next":{"next":1}}'))[0].pointer == "/next/next"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(.*a){20}$"])
def test_a_hostile_pattern_does_not_hang(pattern: str) -> None:
    begun = time.perf_counter()
    validate({"pattern": pattern}, "a" * 20_000 + "!")
    assert time.perf_counter() - begun < 2
