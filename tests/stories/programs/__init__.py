"""Agents by other people's SDKs, each in an environment of its own: calls come in by line, answers go out by line."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.missing import not_here
from tests.up import ROOT, plain_environment

HERE = Path(__file__).parent
_TYPESCRIPT_SDK = "@modelcontextprotocol/sdk@1.32.2"


class Program:
    """One such agent, connected. `hold`, `bears`: seconds that the gateway holds a call and that the client bears."""

    def __init__(self, sdk: str, url: str, key: str, hold: float, bears: float, **more: str) -> None:
        asked = {"AGENTOPS_MCP": url, "AGENTOPS_KEY": key, "AGENTOPS_HOLD": str(hold), "BEARS_SECONDS": str(bears)}
        self._process = _started(sdk, {**plain_environment(), **asked, **more})
        try:
            self.tools: list[str] = self._heard()["tools"]
        except BaseException:
            self.end()
            raise

    def call(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """What the agent was told, or `client_error`."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([tool, args]) + "\n")
        self._process.stdin.flush()
        return self._heard()

    def end(self) -> None:
        """Let it go."""
        try:
            self._process.communicate("end\n", timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


def _started(sdk: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    command = _typescript(sdk) if sdk == "typescript_sdk" else _python(sdk)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=dict(environment), stdin=pipe, stdout=pipe, text=True)


def _python(sdk: str) -> list[str]:
    uv = os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".agentops-tools/bin/uv")
    script = str(HERE / f"with_{sdk}.py")
    if subprocess.run([uv, "sync", "--quiet", "--script", script], cwd=ROOT, check=False).returncode:
        not_here(f"{script} could not be installed")
    return [uv, "run", "--quiet", "--offline", "--script", script]


def _typescript(sdk: str) -> list[str]:
    node, npm = shutil.which("node"), shutil.which("npm")
    folder = ROOT / ".agentops-tools" / "typescript"
    if not (node and npm):
        not_here("node and npm are needed for the TypeScript SDK")
    if not (folder / "node_modules").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), _TYPESCRIPT_SDK]
        if subprocess.run(install, check=False).returncode:
            not_here("the TypeScript SDK could not be installed")
    # Modules are looked for beside the file that imports them.
    copy = shutil.copy(HERE / f"with_{sdk}.mjs", folder)
    return [node, str(copy)]
