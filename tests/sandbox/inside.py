"""Programs in Python inside the sandbox."""

from typing import Any

from tools.domain.checks import parse_spec
from tools.domain.spec import ToolSpec
from tools.sandbox.process import Ended, run_inside

PYTHON = ("/usr/bin/env", "python3", "-I", "-S", "-c")


def ended(program: str, *words: str, given: bytes = b"", seconds: float = 30.0, kept: int = 100_000) -> Ended:
    """How this program ends."""
    return run_inside([*PYTHON, program, *words], given, seconds, kept=kept)


def python(program: str, *words: str) -> str:
    """What this program prints; it must end well."""
    found = ended(program, *words)
    assert (found.how, found.code) == ("ended", 0), found
    return found.stdout.decode().strip()


def command_spec(*argv: str, risk: str = "read", **fields: Any) -> ToolSpec:
    """A command with an optional argument `x`; `command` adds to its part."""
    return parse_spec(
        {
            "name": "probe",
            "description": "A command for tests.",
            "kind": "command",
            "risk": risk,
            "required_scope": "ledger:read",
            "input_schema": {"type": "object", "properties": {"x": {}}},
            "command": {"argv": argv} | fields.pop("command", {}),
            **fields,
        }
    )
