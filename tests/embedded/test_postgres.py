"""The embedded server: who may do what in it, and what it survives."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connections

from agentops.databases import socket_folder
from agentops.embedded.account import Account
from agentops.embedded.postgres import APP, OWNER, Server


def test_the_application_connects_as_a_role_that_cannot_bypass_row_level_security() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = user"
        )
        assert cursor.fetchone() == (APP, False, False, False, False)


def test_the_application_owns_no_table() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE tableowner = user")
        assert cursor.fetchone() == (0,)


def test_the_owner_is_no_superuser() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = user")
        assert cursor.fetchone() == (OWNER, False, False)


def test_a_table_that_the_owner_makes_can_be_used_by_the_application() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE made_later (id bigserial, name text)")
    with connections["default"].cursor() as cursor:
        cursor.execute("INSERT INTO made_later (name) VALUES ('x') RETURNING id")
        assert cursor.fetchone() == (1,)
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE made_later")


@pytest.fixture(scope="module")
def second() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="agentops-second-") as folder:
        server = Server(Path(folder), durable=False)
        server.start()
        yield server
        server.stop()


def test_a_server_that_runs_already_is_found_again(second: Server) -> None:
    assert Server(second.home, durable=False).start() is False


def test_a_server_that_was_killed_comes_back_with_its_data(second: Server) -> None:
    second.make_database("kept")
    os.kill(_postmaster(second), signal.SIGKILL)
    assert second.start() is True
    with psycopg.connect(host=str(second.socket), user=OWNER, dbname="kept") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_half_a_database_of_a_killed_start_is_made_again() -> None:
    with tempfile.TemporaryDirectory(prefix="agentops-half-") as folder:
        Path(folder).chmod(0o755)
        server = Server(Path(folder), durable=False)
        draft = server.data.with_name("draft")
        draft.mkdir(parents=True)
        (draft / "PG_VERSION").write_text("18")
        assert server.start() is True
        assert server.stop() is True
        assert not draft.exists()


def test_a_pid_file_whose_number_another_program_has_is_forgotten(second: Server) -> None:
    pid_file = second.data / "postmaster.pid"
    kept = pid_file.read_text()
    second.stop()
    pid_file.write_text(kept.replace(kept.split("\n", 1)[0], str(os.getppid()), 1))
    assert second.is_running() is False
    assert second.start() is True


def test_nobody_else_can_reach_the_socket(second: Server) -> None:
    assert second.socket.stat().st_mode & 0o777 == 0o700


def test_a_home_with_a_long_path_gets_its_socket_in_a_short_folder() -> None:
    folder = socket_folder(Path("/" + "long/" * 30))
    assert len(f"{folder}/.s.PGSQL.5432") <= 107
    assert folder == socket_folder(Path("/" + "long/" * 30))


def test_a_folder_that_the_account_cannot_enter_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inside").mkdir(parents=True)
    tmp_path.chmod(0o755)
    closed.chmod(0o700)
    stranger = Account(uid=os.getuid() + 54321, gid=os.getgid() + 54321, name="stranger", lent=True)
    assert stranger.blocked_at(closed / "inside") is not None


def _postmaster(server: Server) -> int:
    return int((server.data / "postmaster.pid").read_text().split("\n", 1)[0])
