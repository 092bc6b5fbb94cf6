"""What surrounds a command: the line of programs that starts it, each one closing a door behind itself.

`choom` has it ended first where memory runs out, `setpriv` (as root) takes a user that nobody else is, `bwrap` the file
system, the processes and the network, `timeout` ends it even when nobody watches any more, and `prlimit` bounds it. It
counts the processes inside alone: a limit that is set before the user namespace exists would count everything that this
user runs on the machine.
"""

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from django.conf import settings

from agentops.env import env

MiB = 1024 * 1024
WORK = "/work"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": WORK, "TMPDIR": WORK}
LIMITS = {
    "as": 512 * MiB,
    "core": 0,
    "fsize": 32 * MiB,
    "memlock": 64 * 1024,
    "msgqueue": 0,
    "nofile": 256,
    "nproc": 64,
}
WORK_BYTES = 48 * MiB
_KILLED_LATER = 2.0
_HIGHEST_USER = 2_000_000_000
_calls = count(random.randrange(_HIGHEST_USER))  # noqa: S311 - only so that two workers begin apart
_SHARED = ("bin", "sbin", "lib", "lib32", "lib64")
_NEEDED = ("bwrap", "choom", "prlimit", "timeout")


@dataclass(frozen=True)
class Missing(Exception):
    """A program that the sandbox is made of is not on this machine."""

    program: str


def enclosed(argv: Sequence[str], seconds: float, *, filter_fd: int, status_fd: int) -> list[str]:
    """The whole line that starts `argv` inside. Raises Missing."""
    bwrap, choom, prlimit, timeout = (_found(name) for name in _NEEDED)
    limits = LIMITS | {"cpu": int(seconds) + 2}
    return [
        *(choom, "--adjust", "1000", "--", *_as_nobody()),
        *(bwrap, "--die-with-parent", "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net"),
        *("--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000"),
        *("--cap-drop", "ALL", "--seccomp", str(filter_fd), "--json-status-fd", str(status_fd)),
        *_files(),
        "--clearenv",
        *(word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)),
        *("--chdir", WORK, "--"),
        *(timeout, "--signal=KILL", f"{seconds + _KILLED_LATER:.3f}"),
        *(prlimit, *(f"--{name}={value}" for name, value in limits.items()), "--"),
        *argv,
    ]


def _as_nobody() -> list[str]:
    users = _nobodies()
    if os.geteuid() != 0 or not users:
        return []
    user = str(users[next(_calls) % len(users)])
    return [_found("setpriv"), "--reuid", user, "--regid", user, "--clear-groups"]


@cache
def _nobodies() -> range:
    """Users that nobody is: the last twentieth of what this machine, or container, has; none where it has only us."""
    spans = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    end = min(_HIGHEST_USER, max(int(first) + int(length) for first, _, length in spans))
    return range(end - end // 20, end - 100)


def _files() -> list[str]:
    """The programs of the host, read-only; an empty folder to work in; nothing else."""
    return [
        *("--ro-bind", "/usr", "/usr", *_links_to_usr()),
        *("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
        *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
        *_covers(),
        *("--proc", "/proc", "--dev", "/dev", "--size", str(MiB), "--tmpfs", "/dev/shm"),  # noqa: S108 - inside
        *("--size", str(WORK_BYTES), "--tmpfs", WORK, "--symlink", WORK, "/tmp"),  # noqa: S108 - inside
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def _links_to_usr() -> Iterator[str]:
    for top in (Path("/", name) for name in _SHARED):
        if top.is_symlink():
            yield from ("--symlink", str(top.readlink()), str(top))
        elif top.is_dir():
            yield from ("--ro-bind", str(top), str(top))


def _covers() -> Iterator[str]:
    """Our own code and data, where somebody has put them among the programs."""
    for ours in (Path(settings.BASE_DIR), env().agentops_home):
        if ours.is_relative_to("/usr"):
            yield from ("--tmpfs", str(ours), "--remount-ro", str(ours))


def _found(program: str) -> str:
    path = shutil.which(program, path=ENVIRONMENT["PATH"])
    if path is None:
        raise Missing(program)
    return path
