"""`manage.py up` that is stopped too early, or whose terminal went away: nothing stays behind."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.up import Up, free_port, remains, start


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="agentops-up-"))
    folder.chmod(0o755)
    yield folder / "home"
    shutil.rmtree(folder, ignore_errors=True)


def test_a_start_that_is_interrupted_leaves_nothing_running(home: Path) -> None:
    up = Up(home)
    up.wait_for("database | ")
    assert up.stop() == 0
    assert up.said("the data stays")
    assert remains(home) == []
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()


def test_up_that_lost_its_terminal_stops_cleanly(home: Path) -> None:
    process = start(home, free_port(), "--no-demo")
    assert process.stdout
    assert any("postgres | started" in line for line in iter(process.stdout.readline, ""))
    process.stdout.close()
    process.send_signal(signal.SIGHUP)
    assert process.wait(120) == 0
    assert remains(home) == []
