"""`manage.py up` as a person uses it: real processes in a home of their own."""

import json
import shutil
import signal
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from agentops.embedded.home import Home
from tests.up import Up, free_port, remains, start, until


def outcome(home: Path, port: int, *options: str) -> tuple[int, str]:
    process = start(home, port, "--no-demo", *options)
    text, _ = process.communicate(timeout=60)
    return process.returncode, text


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
    running = Up(home, "--no-demo")
    try:
        running.wait_for("AgentOps is ready")
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def test_up_says_where_it_is_and_all_parts_answer(up: Up) -> None:
    found = readiness(up.url)
    assert found.pop("sandbox")
    assert found == {"ready": True, "database": "ok", "broker": "ok", "beat": "ok", "worker": "ok"}


def test_each_part_has_one_line_of_its_own(up: Up) -> None:
    said = [line.partition("|")[0].strip() for line in up.lines if not line.startswith("up ")]
    assert said == ["postgres", "database", "web", "worker"]


def test_a_secret_key_that_was_not_written_whole_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "secret-key.draft").touch()
    key = Home(tmp_path).secret_key()
    assert len(key) > 50
    assert Home(tmp_path).secret_key() == key
    assert not (tmp_path / "secret-key.draft").exists()


def test_the_secret_key_is_kept_and_private(up: Up, home: Path) -> None:
    assert (home / "secret-key").stat().st_mode & 0o777 == 0o600
    assert len((home / "secret-key").read_text()) > 50


def test_a_second_up_in_the_same_home_is_refused(up: Up, home: Path) -> None:
    code, text = outcome(home, free_port())
    assert code == 2
    assert "is in use by another" in text


def test_a_taken_port_is_named(up: Up) -> None:
    with tempfile.TemporaryDirectory() as other:
        code, text = outcome(Path(other), up.port)
    assert code == 2
    assert "--port" in text


def test_a_worker_that_is_killed_comes_back(up: Up) -> None:
    killed = up.part("worker")
    killed.kill()
    up.wait_for("ended unexpectedly (signal SIGKILL); starting again in 1 s")
    assert until(lambda: up.part("worker").pid) != killed.pid


def test_after_kill_9_the_children_end_and_the_next_up_goes_on_and_can_be_hurried(up: Up, home: Path) -> None:
    children = [up.part("web"), up.part("worker")]
    up.process.kill()
    psutil.wait_procs(children, 120)
    assert not [child for child in children if child.is_running()]
    up.wait()

    second = Up(home, "--no-demo")
    second.wait_for("AgentOps is ready")
    assert second.said("was running already")
    assert second.said("database | unchanged")
    second.part("worker").send_signal(signal.SIGSTOP)
    second.process.send_signal(signal.SIGINT)
    second.wait_for("Ctrl-C again")
    assert second.stop() == 0
    assert second.said("was killed at once, as asked")
    assert remains(home) == []


def test_a_folder_that_is_not_ours_is_neither_used_nor_reset(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    code, text = outcome(tmp_path, free_port(), "--reset")
    assert (code, (tmp_path / "postgres").is_dir()) == (2, True)
    assert "was not made by AgentOps" in text
