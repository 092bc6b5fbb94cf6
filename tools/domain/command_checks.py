"""What the definition of a command must hold before it is saved."""

import re
from collections.abc import Iterator
from itertools import accumulate

from tools.domain.call_parts import CommandCall
from tools.domain.command_line import placeholders
from tools.domain.errors import SpecFault
from tools.domain.secret_names import is_secret_key
from tools.domain.secret_schemas import SecretSchema
from tools.domain.spec import ToolSpec

PROGRAM = re.compile(r"/(usr|bin|sbin)/[^{}]+")


def command_faults(spec: ToolSpec) -> Iterator[SpecFault]:
    """Every fault that the shape alone does not show."""
    if spec.command is None:
        if spec.min_sandbox_level:
            yield SpecFault("/min_sandbox_level", "Only commands run in a sandbox.")
        return
    yield from _program(spec.command)
    yield from _placeholders(spec, spec.command)
    yield from _reach(spec)


def _program(command: CommandCall) -> Iterator[SpecFault]:
    if not PROGRAM.fullmatch(command.argv[0]) or ".." in command.argv[0].split("/"):
        yield SpecFault("/command/argv/0", "The program is a whole path below /usr, such as /usr/bin/python3.")


def _placeholders(spec: ToolSpec, command: CommandCall) -> Iterator[SpecFault]:
    known = spec.input_schema.get("properties")
    for pointer, path, is_whole in placeholders(command):
        name = path.partition(".")[2].partition(".")[0]
        if not is_whole:
            yield SpecFault(pointer, f"{{{path}}} must be an element of its own: a value is never part of other text.")
        elif not name:
            yield SpecFault(pointer, 'All the arguments can only be standard input: say "stdin": "args".')
        elif isinstance(known, dict) and name not in known and spec.idempotency != f"arg:{name}":
            yield SpecFault(pointer, f"The input schema has no property {name}.")
        elif _is_secret(spec, path):
            yield SpecFault(pointer, "Others on the machine can read a command line: take secrets on standard input.")


def _is_secret(spec: ToolSpec, path: str) -> bool:
    keys = path.split(".")[1:]
    places = accumulate(keys, SecretSchema.below, initial=spec.secret_input)
    return any(map(is_secret_key, keys)) or any(place.is_secret for place in places)


def _reach(spec: ToolSpec) -> Iterator[SpecFault]:
    if spec.egress:
        yield SpecFault("/egress", "Commands have no network yet: leave this empty.")
    if spec.egress_by_argument:
        yield SpecFault("/egress_by_argument", "Commands have no network yet: an argument cannot choose where to go.")
    if spec.credential is not None:
        yield SpecFault("/credential", "A credential is for one host, and commands have no network yet.")
