"""Fixtures of the races: real connections, started together by a barrier."""

import threading
from collections.abc import Callable, Sequence

import pytest
from django.db import connections

from tests.cast import Cast
from tests.runs.scenario import Stage, new_stage


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)


def together[T](acts: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Run each act in a thread with its own connection, all at the same instant; exceptions are results."""
    barrier, results = threading.Barrier(len(acts)), dict[int, T | Exception]()

    def one(place: int, act: Callable[[], T]) -> None:
        try:
            barrier.wait(10)
            results[place] = act()
        except Exception as error:  # noqa: BLE001 - what a racer raised is what the test looks at
            results[place] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [results[place] for place in range(len(acts))]
