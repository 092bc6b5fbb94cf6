"""Arguments into one command line, pure, so that what people are shown is what is started."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.domain.call_parts import CommandCall
from tools.domain.canonical import Json, canonical
from tools.domain.filling import MISSING, PLACEHOLDER, at, scalar
from tools.domain.outcome import ToolError
from tools.domain.schema import Fault
from tools.domain.spec import ToolSpec

LONGEST, MOST = 100_000, 1_000_000
"""Bytes of one element, of which Linux takes 131,071, and of all."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What will be started: each element reaches the program as it stands here, no shell reads it."""

    argv: tuple[str, ...]
    stdin: str


def build(spec: ToolSpec, args: dict[str, Any], idempotency_key: str) -> CommandLine:
    """The command of this call. Raises ToolError `invalid_arguments` for values that have no place in it."""
    command = spec.command
    if command is None:
        raise ToolError("tool_failed", "This is not a command.")
    how, _, name = spec.idempotency.partition(":")
    if how == "arg":
        args = args | {name: idempotency_key}
    argv = tuple(_elements(command, args))
    if sum(len(element.encode()) for element in argv) > MOST:
        raise ToolError("invalid_arguments", f"The command line would be longer than {MOST} bytes.")
    return CommandLine(argv, canonical(args) if command.takes_args else "")


def misfits(spec: ToolSpec, args: Any) -> list[Fault]:
    """Why a command cannot take these arguments, which its schema allows."""
    try:
        if spec.command is not None:
            build(spec, args, "")
    except ToolError as error:
        return [Fault("", error.message)]
    return []


def shown(spec: ToolSpec, args: dict[str, Any], idempotency_key: str) -> dict[str, Json] | None:
    """What people see of it: `argv`, and whether the arguments are its standard input; None: it cannot be started."""
    try:
        line = build(spec, args, idempotency_key)
    except ToolError:
        return None
    return {"argv": list(line.argv), "stdin": line.stdin != ""}


def placeholders(command: CommandCall) -> Iterator[tuple[str, str, bool]]:
    """Every `{path}` with the pointer of its element, and whether it is all of it."""
    for index, text in enumerate(command.argv):
        for found in PLACEHOLDER.finditer(text):
            if found[1].partition(".")[0] == "args":
                yield f"/command/argv/{index}", found[1], found[0] == text


def _elements(command: CommandCall, args: dict[str, Any]) -> Iterator[str]:
    ended = False
    for element in command.argv:
        only = PLACEHOLDER.fullmatch(element)
        if only is None or only[1].partition(".")[0] != "args":
            ended = ended or element == "--"
            yield element
        elif (value := at(only[1], args)) not in (None, MISSING):
            yield _element(only[1], value, is_operand=ended)


def _element(path: str, value: Any, *, is_operand: bool) -> str:
    text = scalar(path, value)
    if text.startswith("-") and not is_operand:
        message = f"{path} may not start with “-” here, where it would be read as an option."
        raise ToolError("invalid_arguments", message)
    if len(text.encode()) > LONGEST:
        raise ToolError("invalid_arguments", f"{path} is longer than {LONGEST} bytes, the most that can stand here.")
    return text
