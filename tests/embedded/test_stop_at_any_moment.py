"""A signal may come at any line of what supervises: it only asks, and waits for nothing."""

import sys
import threading
import time
from types import FrameType
from typing import Any

import pytest

from agentops.embedded import supervisor
from agentops.embedded.lifeline import Lifeline
from agentops.embedded.supervisor import Supervisor


def watched(line: int) -> threading.Thread:
    """A thread that watches until it is asked to stop, as a signal's handler asks: at this line of what it runs."""
    watching, passed = Supervisor(Lifeline()), 0

    def at_each_line(_: FrameType, event: str, __: Any) -> Any:
        nonlocal passed
        passed += event == "line"
        if passed == line:
            watching.ask_to_stop()
        return at_each_line

    def watch() -> None:
        sys.settrace(at_each_line)
        watching.watch_until(lambda: False)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_a_stop_is_heard_whenever_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "_LOOK_SECONDS", 0.001)
    threads = [watched(line) for line in range(1, 80)]
    patience = time.monotonic() + 20
    for thread in threads:
        thread.join(max(0, patience - time.monotonic()))
    assert [thread for thread in threads if thread.is_alive()] == []
