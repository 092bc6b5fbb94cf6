"""Child processes: started, prefixed, restarted with back-off when they crash, stopped together."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentops.embedded.lifeline import Lifeline

PREPARED = "AGENTOPS_PREPARED_FILE"
_LONGEST_PAUSE = 30.0
_STEADY_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_END_SECONDS = 0.05
_HURRIED = 2


def say(name: str, text: str) -> None:
    """One line for the person who watches; when the terminal is gone, for nobody."""
    try:
        sys.stdout.write(f"{name:<8} | {text}\n")
        sys.stdout.flush()
    except OSError:
        # What is still in the buffer would fail again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass
class Child:
    """One supervised process."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    process: subprocess.Popen[str] | None = None
    started: float = 0.0
    pause: float = 1.0
    resume_at: float = field(default=0.0)


class Supervisor:
    """Runs its children until told to stop."""

    def __init__(self, lifeline: Lifeline) -> None:
        self.children: Sequence[Child] = ()
        # A number, and no event: a signal's handler would wait for ever for a lock that the code below it holds.
        self._asked = 0
        self._lifeline = lifeline

    @property
    def is_stopping(self) -> bool:
        """Whether a stop was asked."""
        return self._asked > 0

    def ask_to_stop(self) -> None:
        """Asked once, the children may finish what they do; asked again, they may not. For handlers of signals."""
        self._asked += 1

    def start(self, children: Sequence[Child]) -> None:
        """Start every child, unless a stop was asked before."""
        if self.is_stopping:
            return
        self.children = children
        for child in children:
            self._start(child)

    def watch_until(self, done: Callable[[], bool]) -> None:
        """Restart what crashes until `done` says so or a stop was asked."""
        while not self.is_stopping and not done():
            for child in self.children:
                self._look_after(child)
            time.sleep(_LOOK_SECONDS)

    def stop(self, seconds: float = 20.0) -> None:
        """Ask all to stop, wait, and kill what does not listen; what it was doing the sweep takes up again."""
        self._asked = max(self._asked, 1)
        running = [child for child in self.children if child.process and child.process.poll() is None]
        for child in running:
            self._signal(child, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for child in running:
            self._wait(child, deadline)

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if now >= child.resume_at:
                self._start(child)
            return
        code = child.process.poll()
        if code is None:
            return
        if now - child.started > _STEADY_SECONDS:
            child.pause = 1.0
        say(child.name, f"ended unexpectedly ({_how(code)}); starting again in {child.pause:.0f} s")
        child.process, child.resume_at = None, now + child.pause
        child.pause = min(child.pause * 2, _LONGEST_PAUSE)

    def _start(self, child: Child) -> None:
        child.process = self._lifeline.spawn(child.command, child.environment, stderr=subprocess.STDOUT)
        child.started = time.monotonic()
        threading.Thread(target=_relay, args=(child.name, child.process), daemon=True).start()

    def _wait(self, child: Child, deadline: float) -> None:
        process = child.process
        if process is None:
            return
        while process.poll() is None and time.monotonic() < deadline and self._asked < _HURRIED:
            time.sleep(_END_SECONDS)
        if process.poll() is None:
            why = "was killed at once, as asked" if self._asked >= _HURRIED else "did not stop in time and was killed"
            say(child.name, f"{why}; its work is taken up at the next start")
            self._signal(child, signal.SIGKILL)
            process.wait()

    def _signal(self, child: Child, number: signal.Signals) -> None:
        if child.process is not None and child.process.poll() is None:
            child.process.send_signal(number)


def _relay(name: str, process: subprocess.Popen[str]) -> None:
    if process.stdout is not None:
        for line in process.stdout:
            say(name, line.rstrip())


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
