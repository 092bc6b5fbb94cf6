"""One Postgres server in one folder: made, started, found again, stopped."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psycopg
from psycopg import sql

from agentops.databases import socket_folder
from agentops.embedded.account import Account, postgres_account
from agentops.embedded.binaries import postgres_programs
from agentops.embedded.errors import CannotStart

SUPERUSER = "agentops_server"
OWNER = "agentops_owner"
APP = "agentops_app"

_CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{socket}'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = 32MB
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
io_method = sync
jit = off
max_worker_processes = 4
max_parallel_workers_per_gather = 0
autovacuum_max_workers = 2
autovacuum_naptime = 15s
log_checkpoints = off
log_min_messages = warning
timezone = 'UTC'
log_timezone = 'UTC'
fsync = {durable}
synchronous_commit = {durable}
full_page_writes = {durable}
"""


@dataclass(frozen=True)
class Server:
    """The server of one AGENTOPS_HOME. `durable` is off in tests only."""

    home: Path
    durable: bool = True

    @cached_property
    def account(self) -> Account:
        return postgres_account()

    @cached_property
    def programs(self) -> Path:
        return postgres_programs(self.account, self.home)

    @property
    def data(self) -> Path:
        return self.home / "postgres" / "data"

    @property
    def socket(self) -> Path:
        return socket_folder(self.home)

    @property
    def log(self) -> Path:
        return self.home / "postgres" / "postgres.log"

    def url(self, role: str, database: str) -> str:
        """A connection URL for one role."""
        return f"postgresql://{role}@/{database}?host={self.socket}"

    def start(self) -> bool:
        """Running when this returns; False when it already was."""
        self._make_folders()
        if self._answers():
            return False
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._configure()
        self._forget_stale_locks()
        self._launch()
        self._make_roles()
        return True

    def stop(self) -> bool:
        """Stopped cleanly when this returns; False when it was not running."""
        if not self.is_running():
            return False
        self._control("stop", "-m", "fast", "-w", "-t", "30")
        return True

    def is_running(self) -> bool:
        lock = self.data / "postmaster.pid"
        if not lock.exists() or _names_another_program(lock):
            return False
        return self._run("pg_ctl", "status", "-D", str(self.data)).returncode == 0

    def _answers(self) -> bool:
        # A server found running may still be starting, or be about to die.
        deadline = time.monotonic() + 30
        while self.is_running():
            try:
                self._superuser().close()
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise CannotStart(f"The Postgres in {self.data} runs but does not answer: {error}") from error
                time.sleep(0.1)
            else:
                return True
        return False

    def make_database(self, name: str) -> None:
        """A database that the owner role owns, when it does not exist."""
        with self._superuser() as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if known is None:
                statement = sql.SQL("CREATE DATABASE {} OWNER {}")
                connection.execute(statement.format(sql.Identifier(name), sql.Identifier(OWNER)))

    def _make_folders(self) -> None:
        for folder in (self.home / "postgres", self.socket):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
            if found.st_uid not in (os.geteuid(), self.account.uid):
                raise CannotStart(f"{folder} belongs to somebody else; move it away or set AGENTOPS_HOME elsewhere.")
            self.account.own(folder)
            folder.chmod(0o700)
        if self.account.lent:
            self.home.chmod(0o711)
        self._refuse_blocked(self.home / "postgres")
        self._refuse_blocked(self.socket)

    def _refuse_blocked(self, folder: Path) -> None:
        blocked = self.account.blocked_at(folder)
        if blocked is not None:
            raise CannotStart(
                f"Postgres runs as the user {self.account.name!r}, who cannot enter {blocked}. "
                "Set AGENTOPS_HOME to a folder that everybody may enter (for example /var/lib/agentops), "
                "or start as an ordinary user."
            )

    def _initialise(self) -> None:
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions", "--data-checksums"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", f"--username={SUPERUSER}"]
        if not self.durable:
            options.append("--no-sync")
        # Made beside its place: a start that is killed in the middle must not leave half a database there.
        draft = self.data.with_name("draft")
        shutil.rmtree(draft, ignore_errors=True)
        done = self._run("initdb", "-D", str(draft), *options)
        if done.returncode != 0:
            raise CannotStart(f"initdb failed in {draft}:\n{done.stderr.strip()}")
        draft.rename(self.data)

    def _configure(self) -> None:
        # Local connections need no password: the socket's folder is 0700, and nothing listens on TCP.
        settings = _CONFIGURATION.format(socket=self.socket, durable="on" if self.durable else "off")
        for name, text in (("agentops.conf", settings), ("pg_hba.conf", "local all all trust\n")):
            path = self.data / name
            path.write_text(text)
            path.chmod(0o600)
            self.account.own(path)
        main = self.data / "postgresql.conf"
        if "agentops.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("\ninclude_if_exists = 'agentops.conf'\n")

    def _launch(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            done = self._control("start", "-w", "-t", "60", "-s", "-l", str(self.log))
            if done.returncode == 0:
                return
            # After a kill -9 the last children hold the shared memory for a moment.
            if time.monotonic() > deadline or "shared memory" not in self._last_words():
                raise CannotStart(f"Postgres did not start; the end of {self.log}:\n{self._last_words()}")
            time.sleep(0.2)

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:]) if self.log.exists() else ""

    def _make_roles(self) -> None:
        with self._superuser() as connection:
            known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
            for role in (OWNER, APP):
                if role not in known:
                    attributes = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"
                    connection.execute(sql.SQL("CREATE ROLE {} " + attributes).format(sql.Identifier(role)))

    def _superuser(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host=str(self.socket), user=SUPERUSER, dbname="postgres", autocommit=True)

    def _forget_stale_locks(self) -> None:
        # Postgres itself replaces the file of a dead process, but not one whose number another program now has.
        for lock in (self.data / "postmaster.pid", self.socket / ".s.PGSQL.5432.lock"):
            if _names_another_program(lock):
                lock.unlink()

    def _control(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("pg_ctl", arguments[0], "-D", str(self.data), *arguments[1:])

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.programs / program), *arguments],
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            cwd="/",
            # Ctrl-C in the terminal is for `up`, which stops the server itself.
            start_new_session=True,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            **self.account.popen_options(),
        )


def _names_another_program(lock: Path) -> bool:
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return False
    return is_alive(pid) and "postgres" not in _command_line(pid)


def is_alive(pid: int) -> bool:
    """Whether a process (or its zombie) has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _command_line(pid: int) -> str:
    listed = Path(f"/proc/{pid}/cmdline")
    if listed.exists():
        return listed.read_text(errors="replace")
    return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
