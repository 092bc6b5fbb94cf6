"""`manage.py up` in a process of its own: its lines, how to wait for them, and its parts."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
_OURS = ("AGENTOPS_", "DATABASE_", "REDIS_", "SECRET_KEY", "DEBUG", "OTEL_")


class Up:
    """One running `up`."""

    def __init__(self, home: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.lines: list[str] = []
        self.process = start(home, self.port, *options, environment=environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, text: str, seconds: float = 180) -> None:
        """Return when a line with `text` was printed."""
        until(lambda: self.said(text) or self.process.poll() is not None, seconds)
        assert self.said(text), "".join(self.lines)

    def said(self, text: str) -> bool:
        """Whether a line has `text`."""
        return any(text in line for line in list(self.lines))

    def part(self, name: str) -> psutil.Process:
        """The process that is the web or the worker now."""
        return until(lambda: self._part(name), 120)

    def stop(self, number: signal.Signals = signal.SIGINT, seconds: float = 120) -> int:
        """Ask it to stop and return its exit code."""
        self.process.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds: float = 120) -> int:
        """Its exit code when it has ended."""
        code = self.process.wait(seconds)
        self._reader.join(5)
        assert self.process.stdout
        self.process.stdout.close()
        return code

    def _part(self, name: str) -> psutil.Process | None:
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.Error):  # it may end meanwhile
                if child.cmdline()[2:4] == ["agentops.embedded.child", name]:
                    return child
        return None

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(iter(self.process.stdout.readline, ""))


def start(home: Path, port: int, *options: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """`up` with nothing of this process's own settings."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "up", "--home", str(home), "--port", str(port), *options],
        env={**plain_environment(), "PYTHONUNBUFFERED": "1", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def plain_environment() -> dict[str, str]:
    """The environment without what the product reads from it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


def remains(home: Path) -> list[str]:
    """The command lines of processes that work with this home."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words, variables = process.info["cmdline"] or [], process.info["environ"] or {}
        if str(home) in " ".join(words) or variables.get("AGENTOPS_HOME") == str(home):
            found.append(" ".join(words))
    return found


def until[T](look: Callable[[], T | None], seconds: float = 120) -> T:
    """What `look` gives as soon as it gives something."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"it did not happen within {seconds} seconds")


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
