"""A campaign: load, faults by a seeded schedule, and now and then silence in which everything must be true."""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from tests.faults.cluster import Cluster
from tests.faults.facts import Facts, gather
from tests.faults.injections import Injections
from tests.faults.load import Load, tell_what_happened
from tests.faults.oracle import Verdict, judge, unsettled

QUIET_SECONDS = 150.0
"""The longest lease, every look-up pause but the last ones, and room for a busy machine."""


@dataclass
class Outcome:
    """What one campaign did and found."""

    faults: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    effects: int = 0
    verdict: Verdict = field(default_factory=lambda: Verdict(0, 0, 0, 0, 0, ()))


def campaign(home: Path, broker: str, seconds: float, seed: str, programs: int = 6) -> Outcome:
    """Run one cluster under load and faults for so long, then judge it."""
    cluster, outcome = Cluster(home, broker=broker), Outcome()
    try:
        cluster.start()
        say(f"{broker}: ready, faults for {seconds:.0f} s")
        load = Load(cluster, seed, programs)
        load.start()
        injections = Injections(cluster, load, random.Random(seed))
        _inject(injections, outcome, time.monotonic() + seconds)
        load.stop()
        injections.messages.close()
        say(f"{broker}: {outcome.faults.total()} faults, waiting for quiet")
        cluster.clock.write_text("0")
        _settle(cluster)
        tell_what_happened(cluster)
        facts = _settle(cluster)
        outcome.runs, outcome.effects = len(facts.runs), sum(map(len, facts.effects().values()))
        outcome.verdict = judge(facts, load.promises)
        for fault in load.faults:
            say(f"{broker}: a program gave up: {fault}")
    finally:
        cluster.stop()
    return outcome


def _inject(injections: Injections, outcome: Outcome, ends: float) -> None:
    """Every kind once in a random order, then all again, until the time is over."""
    kinds = injections.kinds()
    while time.monotonic() < ends:
        order = list(kinds)
        injections.chance.shuffle(order)
        for name in order:
            if time.monotonic() >= ends:
                return
            happened = _attempt(kinds[name])
            (outcome.faults if happened else outcome.missed)[name] += 1
            time.sleep(injections.chance.uniform(0.2, 1.0))


def _attempt(fault: Callable[[], bool]) -> bool:
    """A fault that hits what an earlier one has just broken is none."""
    try:
        return fault()
    except (OperationalError, RedisError, psycopg.Error, OSError) as error:
        say(f"not injected: {type(error).__name__}")
        return False


def _settle(cluster: Cluster) -> Facts:
    """Wait until nothing moves by itself any more, or long enough to say that it never will."""
    ends = time.monotonic() + QUIET_SECONDS
    while unsettled(gather(cluster)) and time.monotonic() < ends:
        time.sleep(1)
    return gather(cluster)


def say(text: str) -> None:
    """One line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
