"""The system calls that are refused inside, as the BPF program that the kernel runs before each call.

Namespaces alone leave these open: sockets of families that no network namespace holds, new user namespaces, tracing,
keyrings, io_uring, and memory that no limit counts. Of the calls that kernels got since 2019, which have one number on
every machine, only known harmless ones exist inside, so that a new one is closed until somebody has looked at it.
"""

import errno
import platform
import socket
import struct
from collections.abc import Iterable, Sequence

from tools.sandbox.syscalls import ARCHITECTURES, LATER, LATER_ALLOWED, Architecture

type _Program = list[tuple[int, int, int, int]]

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _MACHINE = 0, 4
_ARGUMENTS = 16
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_TYPE_OF_SOCKET = 0xF


def program() -> bytes | None:
    """The filter for this machine; None where its numbers of calls are not known here."""
    machine = ARCHITECTURES.get(platform.machine())
    return None if machine is None else b"".join(struct.pack("<HBBI", *line) for line in _filter(machine))


def _filter(machine: Architecture) -> _Program:
    later = [*_each(LATER_ALLOWED, _ALLOW), *_end(_refused(errno.ENOSYS))]
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, machine.audit),
        *_end(_KILL),
        (_LOAD, 0, 0, _NUMBER),
        *_when(_AT_LEAST, _X32, _end(_KILL)),
        *_when(_AT_LEAST, LATER, later),
        *_each(machine.refused, _refused(errno.EPERM)),
        *_when(_EQUAL, machine.clone, _clone()),
        *_when(_EQUAL, machine.socket, _socket()),
        *_when(_EQUAL, machine.socketpair, _socket()),
        *_end(_ALLOW),
    ]


def _clone() -> _Program:
    """Processes and threads, but no namespaces."""
    return [_argument(0), *_when(_ANY_BIT, _NEW_NAMESPACES, _end(_refused(errno.EPERM))), *_end(_ALLOW)]


def _socket() -> _Program:
    """Unix sockets, and TCP among the programs of one sandbox."""
    stream = [_argument(2), *_each((0, socket.IPPROTO_TCP), _ALLOW), *_end(_refused(errno.EPROTONOSUPPORT))]
    internet = [
        _argument(1),
        (_AND, 0, 0, _TYPE_OF_SOCKET),
        *_when(_EQUAL, socket.SOCK_STREAM, stream),
        *_end(_refused(errno.EACCES)),
    ]
    return [
        _argument(0),
        *_each((socket.AF_UNIX,), _ALLOW),
        *_when(_EQUAL, socket.AF_INET, internet),
        *_when(_EQUAL, socket.AF_INET6, internet),
        *_end(_refused(errno.EAFNOSUPPORT)),
    ]


def _argument(place: int) -> tuple[int, int, int, int]:
    return _LOAD, 0, 0, _ARGUMENTS + 8 * place


def _each(values: Iterable[int], answer: int) -> _Program:
    return [line for value in values for line in _when(_EQUAL, value, _end(answer))]


def _when(test: int, value: int, then: Sequence[tuple[int, int, int, int]]) -> _Program:
    return [(test, 0, len(then), value), *then]


def _end(answer: int) -> _Program:
    return [(_RETURN, 0, 0, answer)]


def _refused(error: int) -> int:
    return 0x00050000 | error
