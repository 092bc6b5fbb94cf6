"""Preparing the database and the demo in a process of its own; skipped where nothing changed since it succeeded."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from agentops.embedded.errors import CannotStart
from agentops.embedded.lifeline import Lifeline
from agentops.embedded.supervisor import say

_CLONE = Path(__file__).resolve().parent.parent.parent
_CODE = ("agentops", "approvals", "demo", "runs", "tools")
# What the workers and listeners of an earlier start left says nothing about this one.
FORGOTTEN = ("embedded_pulse", "channels_postgres_groupchannel", "channels_postgres_message")


@dataclass
class Preparation:
    """`owner_url` is empty for a database that others may change: that one is prepared at every start."""

    record: Path
    owner_url: str
    options: Sequence[str]
    environment: dict[str, str]
    lifeline: Lifeline
    process: subprocess.Popen[str] | None = None

    def begin(self) -> None:
        """Return when the database is prepared; the process goes on to make the demo once the web answers."""
        if self.owner_url and self.record.exists() and self.record.read_text() == self._state():
            with psycopg.connect(self.owner_url) as connection:
                for table in FORGOTTEN:
                    connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - three fixed names
            say("database", "unchanged")
            return
        self.record.unlink(missing_ok=True)
        self._start()

    def is_finished(self) -> bool:
        """Whether all of it, the demo included, is done."""
        code = self.process.poll() if self.process else 0
        if code:
            raise CannotStart("the demo could not be made; the reason is above. --no-demo starts without it.", 3)
        if code == 0 and not self.record.exists():
            self.record.write_text(self._state())
        return code == 0

    def end(self) -> None:
        """Stop making the demo, if that is not done; the next start goes on with it."""
        if self.process:
            self.process.terminate()
            self.process.wait()

    def _start(self) -> None:
        command = [sys.executable, str(_CLONE / "manage.py"), "prepare", *self.options]
        self.process = self.lifeline.spawn(command, self.environment, stderr=None)
        first = self.process.stdout.readline() if self.process.stdout else ""
        if not first:
            self.process.wait()
            raise CannotStart("the database could not be prepared; the reason is above.", exit_code=3)
        say("database", first.strip())

    def _state(self) -> str:
        digest = hashlib.sha256(repr(self.options).encode() + (_CLONE / "uv.lock").read_bytes())
        for path in sorted(path for name in _CODE for path in (_CLONE / name).rglob("*.py")):
            found = path.stat()
            digest.update(f"{path}:{found.st_size}:{found.st_mtime_ns}".encode())
        return digest.hexdigest()
