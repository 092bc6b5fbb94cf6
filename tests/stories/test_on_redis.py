"""The services of compose.yaml with a real Redis as broker and live layer, and what they survive."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentops.embedded.postgres import Server
from tests.stories.bank import Bank
from tests.stories.conftest import SILENT_SECONDS
from tests.stories.office import Office
from tests.stories.stack import Stack, has_redis
from tests.up import until

pytestmark = pytest.mark.skipif(not has_redis(), reason="redis-server was not found")


@pytest.fixture(scope="module")
def stack(server: Server, bank: Bank) -> Iterator[Stack]:
    folder = Path(tempfile.mkdtemp(prefix="agentops-stack-"))
    (folder / "static").mkdir()
    server.make_database("stories")
    made = Stack(folder, server, "stories", {"AGENTOPS_SILENT_SECONDS": str(SILENT_SECONDS)}, bank.host)
    try:
        made.start("redis")
        made.wait_for_redis()
        made.prepare()
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def clerk(stack: Stack) -> Iterator[Office]:
    made = Office(stack.folder / "demo.json")
    yield made
    made.close()


@pytest.mark.parametrize("service", ["web", "live", "worker", "beat"])
def test_its_health_check_is_content(stack: Stack, clerk: Office, service: str) -> None:
    until(lambda: stack.is_healthy(service), 120)


def test_an_emptied_broker_loses_nothing(stack: Stack, clerk: Office) -> None:
    stack.signal("worker", signal.SIGSTOP)
    run = clerk.start("INV-1002").json()["id"]
    stack.flush_redis()
    stack.signal("worker", signal.SIGCONT)
    asked = clerk.asked(run)
    stack.flush_redis()
    assert clerk.approve(asked).status_code == 201
    stack.flush_redis()
    assert clerk.finish(run)["status"] == "succeeded"
    assert len(clerk.payments("INV-1002")) == 1


def test_people_decide_while_redis_is_away_and_the_run_goes_on_when_it_is_back(stack: Stack, clerk: Office) -> None:
    run = clerk.start("INV-1003").json()["id"]
    asked = clerk.asked(run)
    stack.end("redis", signal.SIGKILL)
    assert clerk.readiness()["broker"] != "ok"
    assert clerk.approve(asked).status_code == 201
    assert clerk.run(run)["finished_at"] is None
    stack.start("redis")
    stack.wait_for_redis()
    assert clerk.finish(run)["status"] == "succeeded"
    assert len(clerk.payments("INV-1003")) == 1
    until(lambda: clerk.readiness()["ready"], 120)
