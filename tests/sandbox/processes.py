"""Processes of this machine that carry a mark on their command line, inside whatever they run."""

import time
from collections.abc import Callable

import psutil


def marked(mark: str) -> list[psutil.Process]:
    """Those that are alive."""
    return [process for process in psutil.process_iter() if mark in _line(process)]


def appear(mark: str, count: int, *, within: float = 20.0) -> None:
    """Wait until so many are there."""
    _until(lambda: len(marked(mark)) >= count, within)


def vanish(mark: str, *, within: float) -> None:
    """Wait until none is there."""
    _until(lambda: not marked(mark), within)


def _until(is_so: Callable[[], bool], within: float) -> None:
    ends = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < ends, "it did not become so in time"
        time.sleep(0.02)


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()) if process.status() != psutil.STATUS_ZOMBIE else ""
    except psutil.Error:
        return ""
