"""Arguments become elements of a command line, each value whole and none of them an option."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.domain.checks import parse_spec
from tools.domain.command_line import build
from tools.domain.errors import InvalidTool
from tools.domain.outcome import ToolError
from tools.domain.spec import ToolSpec

GREP = ["/usr/bin/grep", "-n", "--", "{args.pattern}", "{args.extra.name}", "{print}", "{args.n}"]
SCHEMA = {"type": "object", "properties": {name: {} for name in ("pattern", "extra", "n", "key")}}


def _raw(argv: Any = GREP, **fields: Any) -> dict[str, Any]:
    command = {"argv": argv} | fields.pop("command", {})
    return {
        "name": "look", "description": "Looks.", "kind": "command", "risk": "read", "required_scope": "ledger:read",
        "input_schema": SCHEMA, "command": command, **fields,
    }  # fmt: skip


def _spec(*args: Any, **fields: Any) -> ToolSpec:
    return parse_spec(_raw(*args, **fields))


def test_each_value_is_one_element_and_what_is_missing_is_left_out() -> None:
    line = build(_spec(), {"pattern": "a b'; rm *", "extra": {}, "n": -5}, "key-1")
    assert line.argv == ("/usr/bin/grep", "-n", "--", "a b'; rm *", "{print}", "-5")
    assert line.stdin == ""


def test_all_the_arguments_are_canonical_json_on_standard_input() -> None:
    spec = _spec(["/usr/bin/cat"], command={"stdin": "args"}, idempotency="arg:key")
    assert (
        build(spec, {"n": 2**70, "pattern": "é"}, "key-1").stdin
        == '{"key":"key-1","n":1180591620717411303424,"pattern":"é"}'
    )


@pytest.mark.parametrize(
    "value", ["-f/etc/passwd", "--output=x", -1, "-", ["a"], {"a": 1}, "a\0b", "é" * 50_001], ids=lambda v: repr(v)[:12]
)
def test_a_value_that_is_no_plain_element_is_refused(value: Any) -> None:
    with pytest.raises(ToolError) as refused:
        build(_spec(["/usr/bin/cut", "{args.n}", "--"]), {"n": value}, "key-1")
    assert refused.value.code == "invalid_arguments"


def test_a_line_that_no_machine_takes_is_refused() -> None:
    spec = _spec(["/usr/bin/echo", *["{args.n}"] * 11])
    with pytest.raises(ToolError, match="longer than 1000000 bytes"):
        build(spec, {"n": "x" * 99_999}, "key-1")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"command": {"argv": ["python3", "-V"]}}, "/command/argv/0"),
        ({"command": {"argv": ["{args.pattern}"]}}, "/command/argv/0"),
        ({"command": {"argv": ["/usr/../opt/x"]}}, "/command/argv/0"),
        ({"command": {"argv": ["/opt/x"]}}, "/command/argv/0"),
        ({"command": {"argv": []}}, "/command/argv"),
        ({"command": {"argv": ["/usr/bin/env", "a\0b"]}}, "/command/argv/1"),
        ({"command": {"argv": ["/usr/bin/sh", "-c", "ls {args.pattern}"]}}, "/command/argv/2"),
        ({"command": {"argv": ["/usr/bin/sh", "{args.nothing}"]}}, "/command/argv/1"),
        ({"command": {"argv": ["/usr/bin/sh", "{args}"]}}, "/command/argv/1"),
        ({"command": {"argv": ["/usr/bin/sh", "{args.extra.api_key}"]}}, "/command/argv/1"),
        ({"command": {"argv": ["/usr/bin/sh", "{args.pin}"]},
          "input_schema": {"type": "object", "properties": {"pin": {"format": "password"}}}}, "/command/argv/1"),
        ({"command": {"argv": ["/usr/bin/sh"], "shell": True}}, "/command/shell"),
        ({"command": {"argv": ["/usr/bin/sh"], "not_applied": [0]}}, "/command/not_applied/0"),
        ({"command": None}, ""),
        ({"http": {"url": "https://a.example/"}}, ""),
        ({"egress": ["a.example:443"]}, "/egress"),
        ({"egress_by_argument": True}, "/egress_by_argument"),
        ({"credential": "bank"}, "/credential"),
        ({"idempotency": "header:Key"}, "/idempotency"),
        ({"min_sandbox_level": 4}, "/min_sandbox_level"),
        ({"kind": "http", "command": None, "http": {"url": "https://a.example/"}, "min_sandbox_level": 1},
         "/min_sandbox_level"),
    ],
)  # fmt: skip
def test_a_fault_of_a_command_is_named_with_its_place(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidTool) as refused:
        parse_spec(_raw() | change)
    assert any(error["pointer"].startswith(pointer) for error in refused.value.details["errors"])


def test_what_is_started_is_part_of_the_version() -> None:
    specs = [_spec(), _spec([*GREP, "x"]), _spec(command={"stdin": "args"}), _spec(command={"not_applied": [1]})]
    assert len({spec.content_hash for spec in specs}) == 4


def test_the_documented_definition_can_be_saved() -> None:
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    (example,) = re.findall(r"```json\n(.+?)```", text, re.DOTALL)
    spec = parse_spec(json.loads(example))
    assert build(spec, {"csv": "a\n1", "column": "-a"}, "key-1").argv == ("/usr/local/bin/sum-column", "--", "-a")


def test_commands_are_for_the_workers_of_the_sandbox_unless_they_say_otherwise() -> None:
    assert (_spec().queue, _spec(queue="control").queue) == ("sandbox", "control")


def test_tools_of_other_kinds_keep_the_text_that_they_had_without_commands() -> None:
    spec = parse_spec(_raw() | {"kind": "http", "command": None, "http": {"url": "https://a.example/"}})
    assert "command" not in spec.text
