"""One embedded product and one bank for all stories: a start costs more than a story."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collector import Collector
from tests.stories.bank import Bank
from tests.stories.office import Office
from tests.up import Up

SILENT_SECONDS = 8


@pytest.fixture(scope="session")
def bank() -> Iterator[Bank]:
    """The server outside."""
    made = Bank()
    yield made
    made.close()


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """Where the product sends its traces."""
    made = Collector()
    yield made
    made.close()


@pytest.fixture(scope="session")
def up(bank: Bank, collector: Collector) -> Iterator[Up]:
    """`manage.py up` with its demo, ready."""
    folder = Path(tempfile.mkdtemp(prefix=f"agentops-story-{os.getpid()}-"))
    folder.chmod(0o755)
    allowed = {"AGENTOPS_ALLOWED_PRIVATE_HOSTS": bank.host, "AGENTOPS_SILENT_SECONDS": str(SILENT_SECONDS)}
    running = Up(folder / "home", environment=allowed | collector.environment)
    try:
        running.wait_for("AgentOps is ready")
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def office(up: Up) -> Iterator[Office]:
    """Who works with it."""
    made = Office(up.home / "demo.json")
    yield made
    made.close()
