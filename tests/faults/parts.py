"""One process of the cluster: started, signalled and started again by its number alone."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.up import ROOT, plain_environment


class Nursery:
    """The process that forks the product's parts; see nursery.py."""

    def __init__(self, environment: Mapping[str, str], logs: Path) -> None:
        self._logs = logs
        self._guard = threading.Lock()
        with (logs / "nursery.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.nursery"],
                cwd=ROOT,
                env=plain_environment() | dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def start(self, name: str, role: str, *arguments: str) -> int:
        """The number of a new process."""
        assert self._process.stdin
        assert self._process.stdout
        asked = {"role": role, "arguments": arguments, "log": str(self._logs / f"{name}.log")}
        with self._guard:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())

    def stop(self) -> None:
        """End it, and whatever of its children is left."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


def program(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Callable[[], int]:
    """How a program that is no part of the product is started."""

    def start() -> int:
        with log.open("ab") as file:
            started = subprocess.Popen(
                [*command],
                cwd=ROOT,
                env=plain_environment() | dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        threading.Thread(target=started.wait, daemon=True).start()
        return started.pid

    return start


@dataclass(eq=False)
class Part:
    """A process that is started again whenever it ends, unless it is kept down."""

    name: str
    starter: Callable[[], int]
    pid: int = 0
    kept_down: bool = True
    _guard: threading.RLock = field(default_factory=threading.RLock)

    def start(self) -> None:
        """Start it, and from now on whenever it ends."""
        with self._guard:
            self.kept_down = False
            self.look_after()

    def look_after(self) -> None:
        """Start it again if it has ended."""
        with self._guard:
            if not self.kept_down and not is_alive(self.pid):
                self.pid = self.starter()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; a process that has just ended gets none."""
        with self._guard, suppress(ProcessLookupError):
            if self.pid:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, and wait until that process is gone."""
        pid = self.pid
        self.signal(signal.SIGKILL)
        wait_for_end(pid, 10)

    def stop(self, seconds: float = 15) -> None:
        """End it for good: asked first, then not."""
        with self._guard:
            self.kept_down = True
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        if not wait_for_end(self.pid, seconds):
            self.kill()


class Keeper:
    """Starts ended parts again, twenty times a second."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_after, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End every part, the newest first."""
        self._over.set()
        self._thread.join()
        for part in reversed(self.parts):
            part.stop()

    def _look_after(self) -> None:
        while not self._over.wait(0.05):
            for part in list(self.parts):
                part.look_after()


def is_alive(pid: int) -> bool:
    """Whether this process runs; 0 is none."""
    try:
        return pid != 0 and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_end(pid: int, seconds: float) -> bool:
    """Whether the process ends in time."""
    ends = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < ends:
        time.sleep(0.02)
    return not is_alive(pid)
