"""HTTP tools and time: limits, deadlines and cancels, before anything is sent and in flight."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import server as behaviours
from tests.tools.calls import call_of, http_spec, post_spec
from tests.tools.server import Server, echo, serving
from tools.domain.outcome import Failed, NotSent, Unknown
from tools.executor import CancelSignal, execute

type Allow = Callable[[Server], None]


@pytest.mark.parametrize("behave", [behaviours.silent, behaviours.dripping], ids=["silent", "dripping"])
def test_the_whole_call_has_a_time_limit(reachable: Allow, behave: Any) -> None:
    with serving(behave) as server:
        reachable(server)
        started = time.monotonic()
        outcome = execute(call_of(http_spec(server.url(), timeout_ms=300)))
        assert time.monotonic() - started < 2
        assert server.hung_up.wait(5), "the socket is closed"
    assert isinstance(outcome, Failed)
    assert (outcome.error.code, outcome.error.retryable) == ("timeout", True)


def test_a_mutation_that_overruns_is_unknown(reachable: Allow) -> None:
    with serving(behaviours.silent) as server:
        reachable(server)
        outcome = execute(call_of(post_spec(server.url(), timeout_ms=1500)))
    assert isinstance(outcome, Unknown)


def test_the_deadline_is_shorter_than_the_tools_own_limit(reachable: Allow) -> None:
    with serving(behaviours.silent) as server:
        reachable(server)
        started = time.monotonic()
        outcome = execute(call_of(http_spec(server.url(), timeout_ms=60_000), seconds=0.3))
        assert time.monotonic() - started < 2
    assert isinstance(outcome, Failed)


def test_nothing_is_sent_when_no_time_is_left(reachable: Allow) -> None:
    with serving(echo) as server:
        reachable(server)
        assert isinstance(execute(call_of(post_spec(server.url()), seconds=-1)), NotSent)
        assert server.requests == []


def test_nothing_is_sent_after_a_cancel(reachable: Allow) -> None:
    signal = CancelSignal()
    signal.set()
    with serving(echo) as server:
        reachable(server)
        assert isinstance(execute(call_of(post_spec(server.url()), cancelled=signal)), NotSent)
        assert server.requests == []


def _set_after(arrived: threading.Event, signal: CancelSignal) -> None:
    arrived.wait(5)
    signal.set()


@pytest.mark.parametrize(("build", "kind"), [(http_spec, Failed), (post_spec, Unknown)], ids=["read", "mutation"])
def test_a_cancel_in_flight_closes_the_socket_at_once(reachable: Allow, build: Any, kind: type) -> None:
    signal = CancelSignal()
    with serving(behaviours.silent) as server:
        reachable(server)
        threading.Thread(target=_set_after, args=(server.arrived, signal)).start()
        started = time.monotonic()
        outcome = execute(call_of(build(server.url()), cancelled=signal))
        assert time.monotonic() - started < 5
        assert server.hung_up.wait(5)
    assert isinstance(outcome, kind)
