"""What ties every child process to `up`: a pipe whose reading ends when `up` does, even by kill -9."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence

_NAME = "AGENTOPS_PARENT_PIPE"


class Lifeline:
    """The end that `up` holds and never writes to."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def spawn(
        self, command: Sequence[str], environment: Mapping[str, str], *, stderr: int | None
    ) -> subprocess.Popen[str]:
        """A child whose output we read, in a session of its own: Ctrl-C reaches us alone."""
        return subprocess.Popen(
            command,
            env={**environment, _NAME: str(self._read_end)},
            pass_fds=(self._read_end,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
        )


def hold_on() -> None:
    """In a child: end in the usual way when the parent is gone. Nothing happens in a process that has none."""
    descriptor = os.environ.pop(_NAME, None)
    if descriptor:
        threading.Thread(target=_end_with_parent, args=(int(descriptor),), daemon=True).start()


def _end_with_parent(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
