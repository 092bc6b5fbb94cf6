"""Which level of isolation this machine has, found out by doing it.

3 *isolated*: files, processes, network, memory and system calls of its own. 0: none, and then no command runs. The
levels between them, for machines without bubblewrap, are not built.
"""

import re
from dataclasses import dataclass
from functools import cache

from tools.domain.command_answer import last_line
from tools.sandbox.enclosure import Missing
from tools.sandbox.process import run_inside
from tools.sandbox.seccomp import program

ISOLATED = 3
PROBE_SECONDS = 10.0
_PACKAGES = {"bwrap": "bubblewrap", "timeout": "coreutils"}
_MUST_BE = {"CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"}
_NEEDS = "It needs user namespaces and bubblewrap 0.7 or later: docs/commands.md says how, for containers too."


@dataclass(frozen=True)
class Level:
    """`fault` and `remedy`: why it is not higher, and what would make it so."""

    number: int
    fault: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        return f"level {self.number}" if self.number else f"none, so no command runs. {self.fault} {self.remedy}"


def level() -> Level:
    """The level of this machine. What works is kept for this process; what does not is tried again when asked."""
    try:
        return _isolated()
    except _NoSandbox as found:
        return Level(0, found.fault, found.remedy)


class _NoSandbox(Exception):
    """This machine has no sandbox."""

    def __init__(self, fault: str, remedy: str) -> None:
        super().__init__(fault)
        self.fault, self.remedy = fault, remedy


@cache
def _isolated() -> Level:
    if program() is None:
        raise _NoSandbox("The system calls of this kind of machine are not known here.", "Use x86_64 or aarch64.")
    try:
        tried = run_inside(["/usr/bin/cat", "/proc/self/status"], b"", PROBE_SECONDS, kept=16_384)
    except Missing as missing:
        package = _PACKAGES.get(missing.program, "util-linux")
        fault = f"{missing.program} is not installed."
        raise _NoSandbox(fault, f"Install {package} (Debian, Ubuntu: apt install {package}).") from None
    if (tried.how, tried.code) != ("ended", 0):
        raise _NoSandbox(f"The sandbox does not start{last_line(tried.stderr)}.", _NEEDS)
    status = dict(re.findall(r"^(\w+):\s*(\S+)$", tried.stdout.decode(), re.MULTILINE))
    if any(status.get(name) != value for name, value in _MUST_BE.items()):
        raise _NoSandbox("The sandbox starts, but keeps less closed than it must.", _NEEDS)
    return Level(ISOLATED)
