"""The faults of a campaign: each does one bad thing to a real process, and says whether it really happened."""

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from tests.faults import shut_doors
from tests.faults.cluster import Cluster
from tests.faults.load import Load
from tests.faults.messages import Messages
from tests.faults.names import POINTS
from tests.faults.parts import Part
from tests.faults.shut_doors import Shut

TOOLS = ("look", "pay", "keyed", "once")
POINT_SECONDS = 6.0
_IN_TRANSACTION = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE usename = 'agentops_app' AND datname = 'agentops' AND xact_start IS NOT NULL LIMIT 1
"""


class Injections:
    """Everything that can be done to one cluster."""

    def __init__(self, cluster: Cluster, load: Load, chance: random.Random) -> None:
        self.cluster, self.load, self.chance = cluster, load, chance
        self.messages = Messages(cluster)

    def kinds(self) -> dict[str, Callable[[], bool]]:
        """Every kind of fault by the name in the table."""
        kinds: dict[str, Callable[[], bool]] = {f"worker -9 at {p}": self._point(p) for p in POINTS}
        kinds |= {
            "worker -9": lambda: self._kill(self._worker()),
            "worker SIGTERM": lambda: self._signal(self._worker(), signal.SIGTERM),
            "worker stopped longer than its lease": self.stop_worker,
            "web -9": lambda: self._kill(self.cluster.web),
            "beat -9": lambda: self._kill(self.cluster.beat),
            "messages lost": self.lose_messages,
            "messages doubled": self.double_messages,
            "messages late and reordered": self.reorder_messages,
            "Postgres restarted": self.restart_postgres,
            "Postgres silent for 3 s": lambda: self._shut(shut_doors.silent),
            "Postgres without room for 3 s": lambda: self._shut(shut_doors.without_room),
            "Postgres takes no connection for 3 s": lambda: self._shut(shut_doors.without_connections),
            "connection cut in a transaction": self.cut_connection,
            "clock of a machine jumps": self.turn_clock,
            "tool server slow": lambda: self._mood("slow"),
            "tool server hanging": lambda: self._mood("hang"),
            "tool server cutting": lambda: self._mood("cut"),
            "tool server lying": lambda: self._mood(self.chance.choice(["error", "shape", "large"])),
            "tool server -9": lambda: self._kill(self.cluster.outside),
        }
        if self.cluster.redis is not None:
            kinds |= {
                "Redis -9 and back": lambda: self._redis_away(0),
                "Redis away for 10 s": lambda: self._redis_away(10),
                "Redis silent for 4 s": self.silence_redis,
                "Redis full for 3 s": self.fill_redis,
            }
        return kinds

    def _point(self, point: str) -> Callable[[], bool]:
        def fault() -> bool:
            armed = [self.cluster.home / "armed" / f"{point}.{tool}" for tool in self.chance.sample(TOOLS, 2)]
            for mark in armed:
                mark.touch()
            ends = time.monotonic() + POINT_SECONDS
            while all(mark.exists() for mark in armed) and time.monotonic() < ends:
                time.sleep(0.05)
            happened = not all(mark.exists() for mark in armed)
            for mark in armed:
                mark.unlink(missing_ok=True)
            return happened

        return fault

    def stop_worker(self) -> bool:
        """A worker that is alive and silent until others have taken its calls over."""
        worker = self._worker()
        worker.signal(signal.SIGSTOP)
        return _later(self.chance.uniform(8, 11), lambda: worker.signal(signal.SIGCONT))

    def lose_messages(self) -> bool:
        """FLUSHALL, or a purged queue."""
        with self._calm_about_postgres():
            self.messages.lose()
        return True

    def double_messages(self) -> bool:
        """News that everybody knows, again."""
        self.messages.double(self.load.recent())
        return True

    def reorder_messages(self) -> bool:
        """Late, and the last first; the workers are stopped for a moment, so that something waits."""
        for worker in self.cluster.workers:
            worker.signal(signal.SIGSTOP)
        time.sleep(1.5)
        try:
            return self.messages.reorder(self.chance.uniform(0.5, 2)) > 0
        finally:
            for worker in self.cluster.workers:
                worker.signal(signal.SIGCONT)

    def restart_postgres(self) -> bool:
        """As if the machine had lost its power."""
        self.cluster.postgres._control("stop", "-m", "immediate", "-w", "-t", "20")
        self.cluster.postgres.start()
        return True

    def cut_connection(self) -> bool:
        """The product's own connection, while it is in a transaction."""
        ends = time.monotonic() + 5
        with self.cluster.connect() as connection:
            while time.monotonic() < ends:
                if connection.execute(_IN_TRANSACTION.encode()).fetchall():
                    return True
        return False

    def silence_redis(self) -> bool:
        """Alive, and answers nobody."""
        assert self.cluster.redis
        self.cluster.redis.signal(signal.SIGSTOP)
        time.sleep(4)
        self.cluster.redis.signal(signal.SIGCONT)
        return True

    def fill_redis(self) -> bool:
        """It takes no more messages."""
        client = self.cluster.redis_client()
        client.config_set("maxmemory", 1)
        try:
            time.sleep(3)
        finally:
            client.config_set("maxmemory", 0)
        return True

    def turn_clock(self) -> bool:
        """An hour forth or back."""
        self.cluster.clock.write_text(self.chance.choice(["3600", "-3600", "0"]))
        return True

    def _redis_away(self, seconds: float) -> bool:
        redis = self.cluster.redis
        assert redis
        redis.kept_down = True
        redis.kill()
        time.sleep(seconds)
        redis.start()
        return True

    def _shut(self, shut: Shut) -> bool:
        with shut(self.cluster):
            time.sleep(3)
        return True

    def _mood(self, mood: str) -> bool:
        (self.cluster.home / "mood").write_text(mood)
        return _later(3, lambda: (self.cluster.home / "mood").unlink(missing_ok=True))

    def _worker(self) -> Part:
        return self.chance.choice(self.cluster.workers)

    def _kill(self, part: Part) -> bool:
        part.kill()
        return True

    def _signal(self, part: Part, number: signal.Signals) -> bool:
        part.signal(number)
        return True

    @contextmanager
    def _calm_about_postgres(self) -> Iterator[None]:
        try:
            yield
        except psycopg.OperationalError:
            time.sleep(1)
            self.messages.lose()


def _later(seconds: float, act: Callable[[], object]) -> bool:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    return True
