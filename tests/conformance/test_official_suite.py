"""The official suite of MCP, every required server scenario of both revisions, against our door and assembly."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.missing import not_here
from tests.served import Served, serving

_MODULES = Path(__file__).parents[2] / ".agentops-tools" / "mcp" / "node_modules"
_SUITE = _MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
_REQUIRED = {"2026-07-28": 37, "2025-11-25": 30}


@pytest.fixture(scope="module")
def mount() -> Iterator[Served]:
    """Our server code with the suite's fixtures behind it."""
    with serving("tests.conformance.mount:application") as product:
        yield product


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_every_required_scenario_of_the_revision_passes(mount: Served, revision: str, tmp_path: Path) -> None:
    node = _MODULES / "node" / "bin" / "node"
    if not (node.exists() and _SUITE.exists()):
        not_here("the official MCP suite is installed by `make conformance`")
    asked = [str(node), str(_SUITE), "server", "--url", f"{mount.url}/mcp", "--requirements", revision]
    done = subprocess.run([*asked, "-o", str(tmp_path)], capture_output=True, text=True, check=False, timeout=300)
    shutil.rmtree(tmp_path)
    assert done.returncode == 0, done.stdout[-6000:]
    passed = [line for line in done.stdout.splitlines() if line.startswith("✓")]
    assert len(passed) >= _REQUIRED[revision]
