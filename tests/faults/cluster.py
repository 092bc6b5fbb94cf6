"""The product in real processes on loopback ports: Postgres, a broker, web, two workers, beat, and a world outside."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import psycopg
from redis import Redis

from agentops.embedded.postgres import APP, OWNER, SUPERUSER, Server
from tests.faults.parts import Keeper, Nursery, Part, program
from tests.up import ROOT, free_port, plain_environment, until

DATABASE = "agentops"
VISIBLE_SECONDS = 1
_KEY = "the-key-of-the-fault-tests-which-protects-nothing-at-all-0123456789"


class Cluster:
    """Everything that runs; `broker` is redis, or pgmq: a queue in the product's own Postgres."""

    def __init__(self, home: Path, *, broker: str = "redis") -> None:
        self.home, self.broker = home, broker
        for name in ("armed", "fired", "logs", "static"):
            (home / name).mkdir(parents=True, exist_ok=True)
        self.postgres = Server(home)
        self.ports = {name: free_port() for name in ("web", "redis", "outside")}
        self.clock = home / "clock"
        self.keeper = Keeper()
        self.mutant = ""
        self.keys: dict[str, str] = {}
        self.redis = self._program("redis", *self._redis_command()) if broker == "redis" else None
        command = (sys.executable, "-m", "tests.faults.outside", str(self.ports["outside"]), str(home))
        self.outside = self._program("outside", *command)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['web']}"

    @property
    def broker_url(self) -> str:
        return f"redis://127.0.0.1:{self.ports['redis']}/0" if self.broker == "redis" else "pgmq://localhost"

    def start(self) -> None:
        """Ready to serve when this returns."""
        self.nursery = Nursery(self.environment(), self.home / "logs")
        self.postgres.start()
        self.postgres.make_database(DATABASE)
        for part in (self.redis, self.outside):
            if part is not None:
                part.start()
        self.keys = self._prepare()
        self.web = self._child("web")
        self.workers = [self._child("worker-0"), self._child("worker-1", str(self.clock))]
        self.beat = self._child("beat", str(self.clock))
        for part in (self.web, *self.workers, self.beat):
            part.start()
        until(self.is_ready, 120)

    def stop(self) -> None:
        """Leave no process behind."""
        self.keeper.stop()
        self.nursery.stop()
        self.postgres.stop()
        shutil.rmtree(self.postgres.socket, ignore_errors=True)

    def employ(self, mutant: str = "") -> None:
        """Replace every worker by new ones, broken in the named way, or whole ones again."""
        for worker in self.workers:
            worker.stop()
        self.mutant = mutant
        self.sql("DELETE FROM embedded_pulse WHERE queue <> 'beat'")
        for worker in self.workers:
            worker.start()
        until(self.is_ready, 60)

    def is_ready(self) -> bool:
        """What /readyz says."""
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    def sql(self, query: str, *params: Any) -> list[Any]:
        """One statement as the database's superuser, whom row-level security does not bind."""
        with self.connect() as connection:
            cursor = connection.execute(query.encode(), params or None)
            return cursor.fetchall() if cursor.description else []

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of the harness's own."""
        return psycopg.connect(host=str(self.postgres.socket), user=SUPERUSER, dbname=DATABASE, autocommit=True)

    def redis_client(self) -> Redis:
        """The broker, from outside the product."""
        return Redis(host="127.0.0.1", port=self.ports["redis"], socket_timeout=5)

    def environment(self) -> dict[str, str]:
        """What each part of the product reads."""
        names = {
            "AGENTOPS_HOME": str(self.home),
            "AGENTOPS_PORT": str(self.ports["web"]),
            "AGENTOPS_HTTPS": "false",
            "AGENTOPS_ALLOWED_HOSTS": "127.0.0.1",
            "AGENTOPS_ALLOWED_PRIVATE_HOSTS": f"127.0.0.1:{self.ports['outside']}",
            "AGENTOPS_LOG": "WARNING",
            "AGENTOPS_VISIBILITY_SECONDS": str(VISIBLE_SECONDS),
            "SECRET_KEY": _KEY,
            "DATABASE_URL": self.postgres.url(APP, DATABASE),
            "PYTHONPATH": str(ROOT),
        }
        return names | ({"REDIS_URL": self.broker_url} if self.broker == "redis" else {})

    def _prepare(self) -> dict[str, str]:
        owner = {"DATABASE_OWNER_URL": self.postgres.url(OWNER, DATABASE)}
        done = subprocess.run(
            [sys.executable, "-m", "tests.faults.stage", f"127.0.0.1:{self.ports['outside']}"],
            cwd=ROOT,
            env=plain_environment() | self.environment() | owner,
            check=False,
            capture_output=True,
            text=True,
            timeout=180,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        found: dict[str, str] = json.loads(done.stdout)
        return found

    def _child(self, name: str, *rest: str) -> Part:
        role = name.partition("-")[0]

        def start() -> int:
            own = (str(self.home), self.mutant) if role == "worker" else ()
            return self.nursery.start(name, role, *own, *rest)

        return self._kept(Part(name, start))

    def _program(self, name: str, *command: str) -> Part:
        return self._kept(Part(name, program(command, self.environment(), self.home / "logs" / f"{name}.log")))

    def _kept(self, part: Part) -> Part:
        self.keeper.parts.append(part)
        return part

    def _redis_command(self) -> list[str]:
        where = ["--port", str(self.ports["redis"]), "--bind", "127.0.0.1", "--dir", str(self.home)]
        return ["redis-server", *where, "--save", "", "--appendonly", "no"]
