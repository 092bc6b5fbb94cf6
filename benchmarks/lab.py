"""One product under measurement: `manage.py up` in a folder of its own, its Postgres, and exact counts from it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg

from agentops.embedded.postgres import SUPERUSER, Server
from benchmarks.machine import cpu_of, pss_of

ROOT = Path(__file__).resolve().parents[1]
_KEY = "the-key-of-the-benchmarks-which-protects-nothing-at-all-0123456789"


class Lab:
    """The running product. `demo`: as `make up` starts it, with the product's own settings."""

    def __init__(self, home: Path, *, demo: bool = False) -> None:
        self.home, self.demo = home, demo
        self.server = Server(home)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"

    def start(self) -> float:
        """Start it; seconds until it said that it is ready."""
        began = time.monotonic()
        command = [sys.executable, "manage.py", "up", "--home", str(self.home), "--port", self.url.rsplit(":", 1)[1]]
        command += [] if self.demo else ["--no-demo"]
        log = (self.home.parent / "up.log").open("a")
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment(), stdout=log, stderr=log)
        while not self._greets(log.name):
            if self.process.poll() is not None or time.monotonic() - began > 180:
                raise SystemExit(f"the product did not start: see {log.name}")
            time.sleep(0.02)
        return time.monotonic() - began

    def stop(self) -> None:
        """As Ctrl-C would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def environment(self) -> dict[str, str]:
        """Of the product, and of a driver that is to share its database."""
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("AGENTOPS_", "DATABASE_", "REDIS_", "DJANGO_"))
        }
        mine = {"SECRET_KEY": _KEY, "AGENTOPS_HOME": str(self.home), "AGENTOPS_HTTPS": "false"}
        if not self.demo:
            mine["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
        return {**kept, **mine}

    @property
    def postmaster(self) -> int:
        """The number of Postgres's first process."""
        return int((self.server.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def cpu(self) -> tuple[float, float]:
        """CPU seconds so far: the product's processes, and Postgres's."""
        return cpu_of(self.process.pid), cpu_of(self.postmaster)

    def pss(self) -> float:
        """Memory of everything, in MB."""
        return pss_of(self.process.pid, self.postmaster)

    def dsn(self, database: str) -> str:
        """A database of its own on the same server, for a peer; made when it is missing."""
        self.server.make_database(database)
        return self.server.url(SUPERUSER, database)

    def superuser(self) -> psycopg.Connection[Any]:
        """For bulk loads and counts; nothing of the product has this role."""
        return psycopg.connect(self.server.url(SUPERUSER, "agentops"), autocommit=True)

    def _greets(self, log: str) -> bool:
        if self.url not in Path(log).read_text():
            return False
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


class Counting:
    """Writing transactions by their numbers, statements by the server's log; exact, but slow: never while timing."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def __enter__(self) -> "Counting":
        with self.lab.superuser() as connection:
            connection.execute("ALTER SYSTEM SET log_statement = 'all'")
            connection.execute("ALTER SYSTEM SET log_line_prefix = '@%a|'")
            connection.execute("SELECT pg_reload_conf()")
        time.sleep(1)
        self._xid, self._log = self._now(), self.lab.server.log.stat().st_size
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(1)
        self.commits = self._now() - self._xid - 1
        with self.lab.server.log.open("rb") as file:
            file.seek(self._log)
            text = file.read().decode(errors="replace")
        self.statements = len(re.findall(r"^@(?!watcher\|)[^|]*\|LOG:  (?:statement|execute)", text, re.MULTILINE))
        with self.lab.superuser() as connection:
            connection.execute("ALTER SYSTEM RESET ALL")
            connection.execute("SELECT pg_reload_conf()")

    def _now(self) -> int:
        # Asking for a number takes one.
        with self.lab.superuser() as connection:
            row: Any = connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
        return int(row[0])


def new_home() -> Path:
    """A folder for one product, short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="agentops-bench-"))
    folder.chmod(0o755)
    return folder / "home"


def run_contestant(command: list[str], environment: dict[str, str]) -> dict[str, Any] | str:
    """What it reported, or why it did not."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return found
    return (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
