"""AGENTOPS_HOME: one folder, known to be ours, used by one `up` at a time."""

import fcntl
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from agentops.embedded.errors import CannotStart

_MARK = ".agentops-home"
_CONTENTS = ("postgres", "prepared", "preparation", "static", "demo.json", "secret-key")


@dataclass(frozen=True)
class Home:
    """A folder that holds everything an embedded installation keeps."""

    path: Path

    def claim(self) -> TextIO:
        """Make it, make sure that it is ours and free, and hold it until the returned file is closed."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self._mark()
        except OSError as error:
            raise CannotStart(
                f"{self.path} cannot be written ({error.strerror}): set AGENTOPS_HOME (or --home) to a folder of yours."
            ) from error
        return self._lock()

    def secret_key(self) -> str:
        """Made once, kept for good: sessions, sealed credentials and masks depend on it."""
        path = self.path / "secret-key"
        if not path.exists():
            # Whole or not at all: an empty key would be kept for good, too.
            draft = path.with_suffix(".draft")
            draft.unlink(missing_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(50))
            draft.replace(path)
        return path.read_text().strip()

    def reset(self) -> None:
        """Delete what the product keeps here and nothing else; Postgres must be stopped."""
        for name in _CONTENTS:
            entry = self.path / name
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)
        self._mark()

    def _refuse_foreign(self) -> None:
        if not (self.path / _MARK).exists() and any(self.path.iterdir()):
            raise CannotStart(
                f"{self.path} is not empty and was not made by AgentOps: "
                "set AGENTOPS_HOME (or --home) to a new or empty folder."
            )

    def _mark(self) -> None:
        (self.path / _MARK).touch()
        # WhiteNoise wants its folder to exist, also where static files come straight from the source.
        (self.path / "static").mkdir(exist_ok=True)

    def _lock(self) -> TextIO:
        file = (self.path / _MARK).open("r+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            by = file.read().strip()
            file.close()
            raise CannotStart(f"{self.path} is in use by another `up` ({by}): stop that one, or use --home.") from error
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        return file
