"""A hostile command reaches nothing that it was not given."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.inside import python
from tools.sandbox.level import ISOLATED, level

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests" / "cases" / "sandbox.json").read_text())
PROBE = Path(__file__).with_name("probe.py").read_text()
OURS = ["memory that no limit counts", "shared anonymous memory"]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A host with everything that a command might want: all of it is there, listening and open to everybody."""
    folder = tmp_path_factory.mktemp("open")
    folder.chmod(0o777)
    (secret := folder / "secret").write_text("secret")
    secret.chmod(0o644)
    with ExitStack() as kept:
        tcp = kept.enter_context(socket.create_server(("0.0.0.0", 0)))
        named = kept.enter_context(socket.socket(socket.AF_UNIX))
        named.bind(str(folder / "host.sock"))
        (folder / "host.sock").chmod(0o777)
        abstract = kept.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0agentops-{os.getpid()}")
        for listener in (named, abstract):
            listener.listen()
        yield {
            "secret": str(secret), "folder": str(folder), "port": tcp.getsockname()[1], "address": _own_address(),
            "socket": str(folder / "host.sock"), "abstract": f"agentops-{os.getpid()}", "pid": os.getpid(),
        }  # fmt: skip


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        with suppress(OSError):  # a machine without a network has its loopback alone
            end.connect(("192.0.2.1", 9))  # nothing is sent
        return str(end.getsockname()[0]).replace("0.0.0.0", "127.0.0.2")


def test_this_machine_isolates_commands() -> None:
    assert level().number == ISOLATED, level()


def test_a_machine_that_refuses_namespaces_says_so_and_has_no_sandbox() -> None:
    refusing = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--", sys.executable, "-c"]
    say = "from tools.sandbox.level import level; found = level(); print(found.number, found.fault, found.remedy)"
    told = subprocess.run([*refusing, say], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.startswith("0 The sandbox does not start: bwrap: ")
    assert "docs/commands.md" in told


@pytest.mark.parametrize("name", CASES["open"])
def test_a_command_can_do_what_it_needs(name: str, facts: dict[str, Any]) -> None:
    assert python(PROBE, name, json.dumps(facts)) == "open"


@pytest.mark.parametrize("name", [*CASES["blocked"], *OURS])
def test_a_command_cannot(name: str, facts: dict[str, Any]) -> None:
    assert python(PROBE, name, json.dumps(facts)).startswith("blocked: ")
