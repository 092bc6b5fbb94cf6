"""What can happen to messages: lost, doubled, late, out of order, nonsense. With Redis and with the embedded queue."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from celery import Celery
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

from agentops.databases import broker_options
from agentops.embedded.postgres import APP
from tests.faults.cluster import DATABASE, Cluster

QUEUES = ("control", "sandbox")
_OVER = "over"
_GIVEN_AGAIN = re.compile(r"HSET unacked .*redelivered\\*\": true")


class Messages:
    """The broker's messages as somebody sees them who may do anything to them."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        TRANSPORT_ALIASES["pgmq"] = "agentops.embedded.transport:Transport"
        self.app = Celery("faults", broker=cluster.broker_url, set_as_current=False)
        where = {"HOST": str(cluster.postgres.socket), "NAME": DATABASE, "USER": APP, "PORT": "", "PASSWORD": ""}
        url = cluster.broker_url if cluster.broker == "redis" else ""
        self.app.conf.broker_transport_options = broker_options(url, where)
        self.app.conf.task_queues = [Queue(name) for name in QUEUES]
        self.app.conf.task_ignore_result = True

    def close(self) -> None:
        """End this application's connections; those of the tests themselves stay."""
        kept: list[Any] = [self.app.amqp.producer_pool, self.app.pool]
        for pool in kept:
            pool.force_close_all()

    def nudge(self, hint: str | None = None, queue: str = "control") -> None:
        """Say that there is work, as the product does."""
        self.app.send_task("runs.work", args=[queue, hint], queue=queue, retry=False)

    def occupy(self) -> None:
        """News of nothing for each worker that waits for the next message, so that it does not get that one."""
        for _ in range(4):
            self.app.send_task("runs.work", args=["sandbox", None], queue="control", retry=False)

    def lose(self) -> None:
        """Empty the broker."""
        if self.cluster.broker == "redis":
            self.cluster.redis_client().flushall()
        else:
            for queue in QUEUES:
                self.cluster.sql("SELECT pgmq.purge_queue(%s)", queue)

    def unfinished(self, hint: str, seconds: float = 0) -> bool:
        """Whether a worker got news of this run longer ago than that and is not done with it. Redis only."""
        client = self.cluster.redis_client()
        old: Any = client.zrangebyscore("unacked_index", "-inf", time.time() - seconds)
        held: Any = client.hmget("unacked", old) if old else []
        return any(hint.encode() in body for body in held if body)

    @contextmanager
    def delivered_again(self) -> Iterator[Callable[[str], bool]]:
        """Tells whether, within this block, Redis gave news of a run to a worker for the second time."""
        heard: list[str] = []
        client: Any = self.cluster.redis_client()
        with client.monitor() as monitor:
            reader = threading.Thread(target=_listen, args=(monitor, heard), daemon=True)
            reader.start()
            yield lambda hint: any(hint in command for command in heard)
            heard.append(_OVER)
            client.ping()
            reader.join(10)

    def double(self, hints: list[str]) -> None:
        """The same news several times, about runs that are over and runs that never were, in the wrong queue too."""
        for hint in [*hints, *hints, str(uuid4())]:
            self.nudge(hint)
            self.nudge(hint, "sandbox")

    def reorder(self, seconds: float) -> int:
        """Take away what waits for workers, and bring it later, the last first. Returns how many there were."""
        waiting: dict[str, list[Any]] = {queue: self._take(queue) for queue in QUEUES}
        time.sleep(seconds)
        for queue, bodies in waiting.items():
            for body in reversed(bodies):
                self._bring(queue, body)
        return sum(map(len, waiting.values()))

    def _take(self, queue: str) -> list[Any]:
        if self.cluster.broker == "redis":
            client, taken = self.cluster.redis_client(), []
            while (body := client.rpop(queue)) is not None:
                taken.append(body)
            return taken
        rows = self.cluster.sql(f"DELETE FROM pgmq.q_{queue} WHERE vt <= clock_timestamp() RETURNING message::text")
        return [row[0] for row in rows]

    def _bring(self, queue: str, body: Any) -> None:
        if self.cluster.broker == "redis":
            self.cluster.redis_client().lpush(queue, body)
        else:
            self.cluster.sql("SELECT pgmq.send(%s, %s::jsonb)", queue, body)


def _listen(monitor: Any, heard: list[str]) -> None:
    while _OVER not in heard:
        command = monitor.next_command()["command"]
        if _GIVEN_AGAIN.match(command):
            heard.append(command)
