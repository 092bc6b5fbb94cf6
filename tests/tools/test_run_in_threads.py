"""Threads of calls: used again when their call came back, and never while it has not."""

import threading

from tools.kinds.threads import in_thread


def _where(hold: threading.Event | None = None) -> tuple[int, threading.Event]:
    """The thread in which a call runs, and an event for its end; with `hold`, it ends when that is set."""
    places: list[int] = []
    began, ended = threading.Event(), threading.Event()

    def call() -> None:
        places.append(threading.get_ident())
        began.set()
        if hold is not None:
            hold.wait(10)
        ended.set()

    in_thread(call)
    assert began.wait(10)
    return places[0], ended


def test_a_call_that_never_comes_back_keeps_its_thread_for_itself() -> None:
    hold = threading.Event()
    stuck, ended = _where(hold)
    others = set()
    for _ in range(5):
        place, done = _where()
        assert done.wait(10)
        others.add(place)
    hold.set()
    assert stuck not in others
    assert ended.wait(10)


def test_calls_one_after_another_start_few_threads() -> None:
    places = set()
    for _ in range(50):
        place, done = _where()
        assert done.wait(10)
        places.add(place)
    assert len(places) < 25, len(places)
