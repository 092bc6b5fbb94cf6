"""A tool's arguments are told from its schema, and the draft to try it with is JSON with every required one."""

from typing import Any

import pytest

from agentops.web.arguments import Argument, arguments, draft
from tools.domain.canonical import parse

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "title": "Invoice"},
        "n": {"type": ["integer", "null"]},
        "way": {"enum": ["slow", "fast"]},
        "odd": True,
        "flags": {"type": "array", "default": [1]},
    },
    "required": ["id", "n", "way", "odd", "flags"],
}


def test_every_property_is_a_row() -> None:
    assert arguments(SCHEMA)[:3] == [
        Argument("id", "Invoice", "string", True, ""),
        Argument("n", "", "integer or null", True, ""),
        Argument("way", "", "", True, '"slow", "fast"'),
    ]


def test_the_draft_holds_every_required_property() -> None:
    assert parse(draft(SCHEMA)) == {"id": "", "n": 0, "way": "slow", "odd": "", "flags": [1]}


@pytest.mark.parametrize("schema", [{}, True, {"type": "object"}, {"properties": {"a": {}}}])
def test_a_schema_that_requires_nothing_gives_an_empty_draft(schema: Any) -> None:
    assert draft(schema) == "{}"
