"""What a hostile command tries. Runs inside the sandbox alone: some of it harms the machine that it runs on.

Called with the name of a probe and facts about the host. Says `open` when it did what it tried, `blocked` when it was
refused, and fails when it could not even try.
"""

import ctypes
import json
import mmap
import os
import platform
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(sys.argv[2])
REFUSALS = (1, 13, 38)  # EPERM, EACCES, ENOSYS
X86 = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
PROBES: dict[str, Callable[[], object]] = {}


class Refused(Exception):
    """The sandbox said no."""


def probe(name: str) -> Callable[[Callable[[], object]], None]:
    """Keep this under the name that the list of cases has for it."""
    return lambda do: PROBES.update({name: do})


def kernel(answer: int) -> int:
    """What a call of the kernel answered; whatever it says but no means that it was reached."""
    if answer == -1 and ctypes.get_errno() in REFUSALS:
        raise Refused(os.strerror(ctypes.get_errno()))
    return answer


def number(x86: int, arm: int | None = None) -> int:
    return x86 if X86 or arm is None else arm


def connect(family: int, where: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.settimeout(3)
        end.connect(where)


def status(name: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


def must(condition: bool, why: str) -> None:
    if not condition:
        raise Refused(why)


probe("tcp bind 0.0.0.0")(lambda: socket.create_server(("0.0.0.0", 0)))
probe("write own workdir")(lambda: Path("own").write_text("mine"))
probe("read host secret file")(lambda: Path(FACTS["secret"]).read_text())
probe("read /etc/shadow")(lambda: Path("/etc/shadow").read_text())
probe("read /etc/passwd")(lambda: Path("/etc/passwd").read_text())
probe("write under /usr")(lambda: Path("/usr/agentops-probe").write_text("x"))
probe("write to a host folder outside the work folder")(lambda: Path(FACTS["folder"], "x").write_text("x"))
probe("tcp host loopback")(lambda: connect(socket.AF_INET, ("127.0.0.1", FACTS["port"])))
probe("tcp6 mapped host loopback")(lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", FACTS["port"])))
probe("tcp to the host's own network address")(lambda: connect(socket.AF_INET, (FACTS["address"], FACTS["port"])))
probe("udp socket create (DNS exfil)")(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
probe("unix path host.sock")(lambda: connect(socket.AF_UNIX, FACTS["socket"]))
probe("unix abstract host")(lambda: connect(socket.AF_UNIX, "\0" + FACTS["abstract"]))
probe("AF_VSOCK socket create")(lambda: socket.socket(40, socket.SOCK_STREAM))
probe("AF_NETLINK socket")(lambda: socket.socket(16, socket.SOCK_RAW, 0))
probe("AF_PACKET socket")(lambda: socket.socket(17, socket.SOCK_RAW, 3))
probe("AF_ALG socket")(lambda: socket.socket(38, socket.SOCK_SEQPACKET))
probe("read host env /proc/PID/environ")(lambda: Path(f"/proc/{FACTS['pid']}/environ").read_bytes())
probe("signal host pid (sig 0)")(lambda: os.kill(FACTS["pid"], 0))
probe("new user namespace")(lambda: kernel(libc.unshare(0x10000000)))
probe("mount tmpfs")(lambda: kernel(libc.mount(b"none", b"/work", b"tmpfs", 0, None)))
probe("io_uring_setup")(lambda: kernel(libc.syscall(425, 8, ctypes.create_string_buffer(120))))
probe("bpf syscall")(lambda: kernel(libc.syscall(number(321, 280), 0, ctypes.create_string_buffer(128), 128)))
probe("keyctl session keyring")(lambda: kernel(libc.syscall(number(250, 219), 1, None)))
probe("userfaultfd")(lambda: kernel(libc.syscall(number(323, 282), 1)))
probe("caps effective")(lambda: must(int(status("CapEff"), 16) != 0, "none"))
probe("gain privs via setuid binary (NNP off)")(lambda: must(status("NoNewPrivs") != "1", "no new privileges"))
probe("alloc 1 GiB")(lambda: bytearray(1 << 30))
probe("write 64 MiB file in workdir")(lambda: Path("big").write_bytes(b"x" * (64 << 20)))


@probe("udp host loopback")
def udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b"x", ("127.0.0.1", FACTS["port"]))


@probe("see host pid in /proc")
def see() -> None:
    seen = [path.read_text().strip() for path in Path("/proc").glob("[0-9]*/comm")]
    must(set(seen) > {"bwrap", "timeout", "python3"}, f"only {seen}")


@probe("ptrace attach own child")
def trace() -> None:
    child = os.fork()
    if child == 0:
        os.read(os.pipe()[0], 1)
    kernel(libc.ptrace(16, child, None, None))


@probe("process_vm_readv syscall")
def read_memory() -> None:
    mine = ctypes.create_string_buffer(16)
    span = (ctypes.c_ulong * 2)(ctypes.addressof(mine), 8)
    kernel(libc.syscall(number(310, 270), os.getpid(), span, 1, span, 1, 0))


@probe("perf_event_open")
def perf() -> None:
    wanted = ctypes.create_string_buffer(128)
    wanted[0], wanted[4] = b"\x01", b"\x80"  # a software event; the size of this
    kernel(libc.syscall(number(298, 241), wanted, 0, -1, -1, 0))


@probe("fork 200 procs")
def fork() -> None:
    for _ in range(200):
        if os.fork() == 0:
            os.read(os.pipe()[0], 1)


@probe("memory that no limit counts")
def shared_memory() -> None:
    kernel(libc.syscall(number(319, 279), b"x", 0))


@probe("shared anonymous memory")
def shared_mapping() -> None:
    mmap.mmap(-1, 1 << 30)


def main() -> str:
    try:
        PROBES[sys.argv[1]]()
    except (OSError, MemoryError, Refused) as refusal:
        return f"blocked: {type(refusal).__name__} {refusal}"
    return "open"


sys.stdout.write(main())
