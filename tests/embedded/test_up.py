"""`manage.py up` as a person uses it: real processes in a home of their own."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_MANAGE = Path(__file__).parents[2] / "manage.py"


class Up:
    """One running `up`, its lines, and how to wait for them."""

    def __init__(self, home: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.lines: list[str] = []
        self.process = start(home, port)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(iter(self.process.stdout.readline, ""))

    def wait_for(self, text: str, seconds: float = 90) -> None:
        wait_until(lambda: any(text in line for line in self.lines) or self.process.poll() is not None, seconds)
        assert any(text in line for line in self.lines), "".join(self.lines)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        self._reader.join(5)
        assert self.process.stdout
        self.process.stdout.close()
        return code


def start(home: Path, port: int, *more: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AGENTOPS_", "SECRET_KEY"))}
    return subprocess.Popen(
        [sys.executable, str(_MANAGE), "up", "--no-demo", "--home", str(home), "--port", str(port), *more],
        env={**kept, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outcome(home: Path, port: int, *more: str) -> tuple[int, str]:
    process = start(home, port, *more)
    text, _ = process.communicate(timeout=60)
    return process.returncode, text


def wait_until(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def readiness(url: str) -> dict[str, object]:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as answer:
        with answer:
            return dict(json.load(answer))


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="agentops-up-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def up(home: Path) -> Iterator[Up]:
    running = Up(home, free_port())
    try:
        running.wait_for("AgentOps is ready")
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def test_up_says_where_it_is_and_all_parts_answer(up: Up) -> None:
    assert readiness(up.url) == {"ready": True, "database": "ok", "broker": "ok", "worker": "ok"}


def test_the_secret_key_is_kept_and_private(up: Up, home: Path) -> None:
    assert (home / "secret-key").stat().st_mode & 0o777 == 0o600
    assert len((home / "secret-key").read_text()) > 50


def test_a_second_up_in_the_same_home_is_refused(up: Up, home: Path) -> None:
    code, text = outcome(home, free_port())
    assert code == 2
    assert "is in use by another" in text


def test_a_taken_port_is_named(up: Up) -> None:
    with tempfile.TemporaryDirectory() as other:
        code, text = outcome(Path(other), int(up.url.rsplit(":", 1)[1]))
    assert code == 2
    assert "--port" in text


def test_a_worker_that_is_killed_comes_back(up: Up) -> None:
    os.kill(_pid("worker", up.process.pid), signal.SIGKILL)
    up.wait_for("ended unexpectedly (signal SIGKILL)")
    wait_until(lambda: _pid("worker", up.process.pid) > 0, 20)
    assert _pid("worker", up.process.pid)


def test_stopping_is_clean_and_the_data_stays(up: Up, home: Path) -> None:
    assert up.stop() == 0
    assert any("the data stays" in line for line in up.lines)
    assert (home / "postgres" / "data" / "PG_VERSION").exists()
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()


def test_a_folder_that_is_not_ours_is_neither_used_nor_reset(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    code, text = outcome(tmp_path, free_port(), "--reset")
    assert (code, (tmp_path / "postgres").is_dir()) == (2, True)
    assert "was not made by AgentOps" in text


def _pid(part: str, parent: int) -> int:
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^\s*(\d+)\s+{parent}\s.*agentops\.embedded\.child {part}$", listing, re.MULTILINE)
    return int(found.group(1)) if found else 0
