"""One real Postgres for the session; commits are real, so every test makes its own tenants."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections
from kombu import pools
from pytest_django import DjangoDbBlocker

from agentops.embedded.postgres import SUPERUSER, Server, is_alive
from agentops.telling import teller
from tests import environment

pytest_plugins = ["tests.bubblewrap", "tests.cast", "tests.chromium", "tests.lanes", "tests.served"]

# These folders need no Postgres, or start one of their own, and run without starting it.
_OWN = ("domain", "architecture", "benchmarks", "conformance", "faults", "sandbox", "stories")
_TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask for the database first in every other folder."""
    for item in items:
        folder = item.path.relative_to(_TESTS).parts[0]
        if folder not in _OWN and isinstance(item, pytest.Function) and "database" not in item.fixturenames:
            item.fixturenames.insert(0, "database")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server of this process (with xdist: of this worker) in a folder of its own."""
    _sweep_leftovers()
    running = Server(environment.HOME, durable=False)
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def database(server: Server, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The migrated database: `default` is the plain role, `owner` made it."""
    server.make_database(environment.DATABASE)
    with django_db_blocker.unblock():
        call_command("prepare", verbosity=0)
        yield
        teller.finish()
        pools.reset()
        connections["default"].close_pool()  # type: ignore[attr-defined]  # the Postgres wrapper has it
        connections.close_all()


@pytest.fixture
def superuser(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """Somebody with all of the database: triggers and row-level security do not hold them."""
    with psycopg.connect(server.url(SUPERUSER, environment.DATABASE), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(environment.HOME, ignore_errors=True)


def _sweep_leftovers() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{environment.PREFIX}*"):
        pid = folder.name.removeprefix(environment.PREFIX).split("-", 1)[0]
        if pid.isdigit() and not is_alive(int(pid)):
            Server(folder, durable=False).stop()
            shutil.rmtree(folder, ignore_errors=True)
