"""The system user that Postgres runs as: it refuses root, so root lends it an unprivileged one."""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentops.embedded.errors import CannotStart

_NAME = "agentops"


@dataclass(frozen=True)
class Account:
    """Who runs Postgres; `lent` when that is not who we are."""

    uid: int
    gid: int
    name: str
    lent: bool

    def own(self, path: Path) -> None:
        """Give a file of ours to the account."""
        if self.lent:
            os.chown(path, self.uid, self.gid)

    def popen_options(self) -> dict[str, Any]:
        """Arguments that make a child process run as this account."""
        if not self.lent:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def blocked_at(self, folder: Path) -> Path | None:
        """The first folder on the way to `folder` (itself included) that the account cannot enter."""
        if not self.lent:
            return None
        resolved = folder.resolve()
        for step in [*reversed(resolved.parents), resolved]:
            if not self._may_enter(step.stat()):
                return step
        return None

    def _may_enter(self, found: os.stat_result) -> bool:
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def postgres_account() -> Account:
    """We ourselves; as root the system user `agentops`, made when it is missing."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), str(os.geteuid()), lent=False)
    found = _lookup(_NAME) or _created() or _lookup("postgres")
    if found is None:
        raise CannotStart(
            "Postgres does not run as root and no unprivileged system user could be made. "
            f"Make one (useradd --system {_NAME}) or start as an ordinary user."
        )
    return Account(found.pw_uid, found.pw_gid, found.pw_name, lent=True)


def _lookup(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _created() -> pwd.struct_passwd | None:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd is None:
        return None
    command = [useradd, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", _NAME]
    subprocess.run(command, capture_output=True, check=False)
    return _lookup(_NAME)
