"""Every process refuses to serve where row-level security would not bind it, and says why."""

import subprocess
import sys
from pathlib import Path

from agentops.embedded.postgres import OWNER, Server
from tests import environment
from tests.up import ROOT, free_port, plain_environment

CELERY = ("celery", "--app=agentops.celery")
COMMANDS = {
    "worker": (*CELERY, "worker", "--pool=threads", "--concurrency=1"),
    "beat": (*CELERY, "beat", "--pidfile="),
    "live": ("uvicorn", "agentops.asgi:application", "--lifespan=on", f"--port={free_port()}"),
    "web": ("granian", "--interface=wsgi", "--workers=1", f"--port={free_port()}", "agentops.wsgi:application"),
}


def test_no_process_serves_with_a_role_that_owns_the_tables(server: Server, database: None) -> None:
    variables = {
        "DATABASE_URL": server.url(OWNER, environment.DATABASE),
        "SECRET_KEY": "a-key-of-the-tests-that-is-long-enough-to-be-one-0123456789",
        "AGENTOPS_HOME": str(environment.HOME),
    }
    started = {part: _started(command, plain_environment() | variables) for part, command in COMMANDS.items()}
    said = {part: process.communicate(timeout=120)[0] for part, process in started.items()}
    assert [part for part, process in started.items() if process.returncode == 0] == []
    assert [part for part, text in said.items() if "owns tables" not in text] == []


def _started(command: tuple[str, ...], variables: dict[str, str]) -> subprocess.Popen[str]:
    program = str(Path(sys.executable).with_name(command[0]))
    return subprocess.Popen(
        [program, *command[1:]],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
