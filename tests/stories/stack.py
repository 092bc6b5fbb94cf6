"""The services of compose.yaml as processes of this machine: their own commands, with apt's redis-server."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil
import yaml

from agentops.embedded.postgres import APP, OWNER, Server
from tests.up import ROOT, free_port, plain_environment, until


class Stack:
    """Started by name, ended by process. `bank` is the host:port that the stories' own tools reach."""

    def __init__(self, folder: Path, server: Server, database: str, more: Mapping[str, str], bank: str) -> None:
        self.folder = folder
        self.ports = {"web": free_port(), "live": free_port(), "redis": free_port()}
        self.url = f"http://127.0.0.1:{self.ports['web']}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._services: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
        self._owner_url = server.url(OWNER, database)
        self._log: IO[bytes] = (folder / "stack.log").open("ab")
        self._environment = plain_environment() | {
            "SECRET_KEY": "a-key-of-the-stories-that-is-long-enough-to-be-one-0123456789",
            "DATABASE_URL": server.url(APP, database),
            "REDIS_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "AGENTOPS_HOME": str(folder),
            "AGENTOPS_HTTPS": "false",
            "AGENTOPS_DEMO": "true",
            "AGENTOPS_ALLOWED_PRIVATE_HOSTS": f"{bank},127.0.0.1:{self.ports['web']}",
            **more,
        }

    def start(self, *names: str) -> None:
        """As their containers would be; `worker-2` is another one of the service `worker`."""
        for name in names:
            command = self._command(self._services[name.partition("-")[0]]["command"], name)
            self.processes[name] = self._spawn(command, self._environment)

    def prepare(self) -> None:
        """The service `migrate`, and the demo, which needs the web and a worker."""
        options = ["--seed", str(self.folder), "--url", self.url]
        command = self._command(self._services["migrate"]["command"], "migrate")
        owner = self._environment | {"DATABASE_OWNER_URL": self._owner_url}
        assert self._spawn(command, owner).wait(300) == 0, self.log()
        self.start("web", "live", "worker", "beat")
        assert self._spawn([*command, *options], owner).wait(300) == 0, self.log()

    def is_healthy(self, name: str) -> bool:
        """The service's own health check."""
        command = self._command(self._services[name]["healthcheck"]["test"][1:], name)
        return self._spawn(command, self._environment).wait(60) == 0

    def end(self, name: str, number: signal.Signals) -> int:
        """Signal a service and return its exit code; with kill -9 its own children die too, as in a container."""
        process = self.processes.pop(name)
        family = psutil.Process(process.pid).children(recursive=True) if number is signal.SIGKILL else []
        process.send_signal(number)
        for child in family:
            child.send_signal(number)
        return process.wait(120)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Stop or continue a service."""
        self.processes[name].send_signal(number)

    def close(self) -> None:
        """End everything, what was stopped too."""
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
        for name in [name for name in self.processes if name != "redis"]:
            self.end(name, signal.SIGTERM)
        for name in list(self.processes):
            self.end(name, signal.SIGTERM)
        self._log.close()

    def log(self) -> str:
        """The end of what all of them said."""
        return (self.folder / "stack.log").read_text(errors="replace")[-5000:]

    def wait_for_redis(self) -> None:
        """Return when it answers."""
        port = ["redis-cli", "-p", str(self.ports["redis"])]
        until(lambda: subprocess.run([*port, "ping"], capture_output=True, check=False).stdout == b"PONG\n", 20)

    def redis(self, *command: str) -> str:
        """What it answers."""
        asked = ["redis-cli", "-p", str(self.ports["redis"]), *command]
        return subprocess.run(asked, capture_output=True, check=True, text=True).stdout.strip()

    def _command(self, words: Sequence[str], name: str) -> list[str]:
        changed = [self._local(word, name) for word in words]
        program = Path(sys.executable).with_name(changed[0])
        if name == "redis":
            changed += ["--port", str(self.ports["redis"]), "--dir", str(self.folder), "--bind", "127.0.0.1"]
        return [str(program) if program.exists() else changed[0], *changed[1:]]

    def _local(self, word: str, name: str) -> str:
        here = {"0.0.0.0": "127.0.0.1", "8000": str(self.ports.get(name))}
        local = here.get(word, word).replace("127.0.0.1:8000", f"127.0.0.1:{self.ports.get(name)}")
        return local.replace("web:8000", f"127.0.0.1:{self.ports['web']}")

    def _spawn(self, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=self._log, stderr=self._log)


def has_redis() -> bool:
    """Whether redis-server is here; in CI it has to be."""
    found = any((Path(folder) / "redis-server").exists() for folder in os.get_exec_path())
    return found or os.environ.get("CI") == "true"
