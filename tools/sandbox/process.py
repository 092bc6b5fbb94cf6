"""One command inside the sandbox, from its start until all that it started has ended."""

import json
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Literal

from tools.call import CancelSignal
from tools.sandbox.enclosure import enclosed
from tools.sandbox.seccomp import program

LOOK_SECONDS = 0.1
GONE_SECONDS = 2.0
KEPT_OF_STDERR = 4096
_PIECE = 65_536


type How = Literal["ended", "timeout", "cancelled", "unstarted", "lost"]


@dataclass(frozen=True)
class Ended:
    """How it ended, and with which exit code. `cut`: more was printed than was kept.

    `unstarted`: the sandbox could not be made. `lost`: somebody else killed it, and nobody knows how far it came.
    """

    how: How
    code: int
    stdout: bytes
    cut: bool
    stderr: bytes


def run_inside(
    argv: Sequence[str], given: bytes, seconds: float, *, kept: int, cancelled: CancelSignal | None = None
) -> Ended:
    """Run `argv` with `given` on its standard input; hold at most `kept` bytes of what it prints. Raises Missing."""
    try:
        started = _start(argv, seconds)
    except OSError as error:  # no room for another process or file
        return Ended("unstarted", 1, b"", False, str(error.strerror).encode())
    with _held(started) as process:
        watched = _Watched(process, memoryview(given), kept)
        stopped = watched.until_ended(time.monotonic() + seconds, cancelled or CancelSignal())
        how, code = watched.verdict(stopped)
        return Ended(how, code, bytes(watched.stdout), watched.cut, bytes(watched.stderr))


@dataclass(frozen=True)
class _Process:
    """`status`: where bwrap tells, in lines of JSON, that it started something and how that ended."""

    popen: subprocess.Popen[bytes]
    status: IO[bytes]


def _start(argv: Sequence[str], seconds: float) -> _Process:
    with os.fdopen(os.memfd_create("seccomp"), "r+b", buffering=0) as rules:
        rules.write(program() or b"")
        rules.seek(0)
        return _begin(argv, seconds, rules.fileno())


def _begin(argv: Sequence[str], seconds: float, rules: int) -> _Process:
    status, told = os.pipe()
    try:
        popen = subprocess.Popen(
            enclosed(argv, seconds, filter_fd=rules, status_fd=told),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(rules, told),
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(told)
    return _Process(popen, os.fdopen(status, "rb", buffering=0))


@contextmanager
def _held(process: _Process) -> Iterator[_Process]:
    with process.popen, process.status:
        try:
            yield process
        finally:
            _kill(process.popen)


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """bwrap, and with it the namespace of processes: whatever was started inside ends too."""
    if popen.returncode is None:
        os.killpg(popen.pid, signal.SIGKILL)


@dataclass
class _Watched:
    process: _Process
    given: memoryview
    kept: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    cut: bool = False
    _status: bytearray = field(default_factory=bytearray)

    def until_ended(self, deadline: float, cancelled: CancelSignal) -> How | None:
        """Feed it and read it until nobody holds its ends any more; or stop it, and say why."""
        with selectors.DefaultSelector() as selector:
            self._attend(selector)
            while selector.get_map():
                left = deadline - time.monotonic()
                if cancelled.is_set() or left <= 0:
                    self._stop(selector)
                    return "cancelled" if cancelled.is_set() else "timeout"
                self._turn(selector, min(left, LOOK_SECONDS))
        return None

    def verdict(self, stopped: How | None) -> tuple[How, int]:
        """How it ended, and its exit code: 128 and the number of the signal when one ended it."""
        self._wait_for_the_last()
        code, left = self._said("exit-code"), self.process.popen.wait()
        if stopped is not None or code is None:
            return stopped or ("unstarted" if left > 0 else "lost"), left
        return "ended", code

    def _wait_for_the_last(self) -> None:
        """The first process of the namespace ends after all others; bwrap does not wait for it."""
        first = self._said("child-pid")
        if first is None:
            return
        # Gone already, or not to be watched: how the command ended is known all the same.
        with suppress(OSError), os.fdopen(os.pidfd_open(first), "rb", buffering=0) as process:
            end = select.poll()
            end.register(process, select.POLLIN)
            end.poll(GONE_SECONDS * 1000)

    def _said(self, what: str) -> int | None:
        *whole, _ = self._status.split(b"\n")
        lines: list[dict[str, int]] = [json.loads(line) for line in whole]
        return next((line[what] for line in lines if what in line), None)

    def _attend(self, selector: selectors.BaseSelector) -> None:
        popen = self.process.popen
        for end, take in ((popen.stdout, self._out), (popen.stderr, self._err), (self.process.status, self._told)):
            selector.register(end, selectors.EVENT_READ, take)  # type: ignore[arg-type]  # both are pipes
        if popen.stdin is not None:
            os.set_blocking(popen.stdin.fileno(), False)
            selector.register(popen.stdin, selectors.EVENT_WRITE)

    def _turn(self, selector: selectors.BaseSelector, seconds: float) -> None:
        for key, _ in selector.select(seconds):
            if key.data is None:
                self._feed(selector, key.fd)
            elif piece := os.read(key.fd, _PIECE):
                key.data(piece)
            else:
                selector.unregister(key.fileobj)

    def _feed(self, selector: selectors.BaseSelector, fd: int) -> None:
        stdin = self.process.popen.stdin
        try:
            self.given = self.given[os.write(fd, self.given) if self.given else 0 :]
        except BrokenPipeError:
            self.given = memoryview(b"")
        if not self.given and stdin is not None:
            selector.unregister(stdin)
            stdin.close()

    def _stop(self, selector: selectors.BaseSelector) -> None:
        _kill(self.process.popen)
        gone = time.monotonic() + GONE_SECONDS
        if (stdin := self.process.popen.stdin) is not None and not stdin.closed:
            selector.unregister(stdin)
        while selector.get_map() and (left := gone - time.monotonic()) > 0:
            self._turn(selector, left)

    def _out(self, piece: bytes) -> None:
        room = self.kept - len(self.stdout)
        self.cut = self.cut or len(piece) > room
        self.stdout += piece[:room]

    def _err(self, piece: bytes) -> None:
        self.stderr += piece
        del self.stderr[:-KEPT_OF_STDERR]

    def _told(self, piece: bytes) -> None:
        self._status += piece
