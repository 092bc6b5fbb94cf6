"""The services of compose.yaml with a real Redis as broker and live layer, and what they survive."""

import json
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import ClientConnection, connect

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


def listening(stack: Stack, office: Office) -> ClientConnection:
    """The socket of a page on which bob signed in, at the service `live`."""
    live = f"127.0.0.1:{stack.ports['live']}"
    with httpx2.Client(base_url=f"http://{live}", follow_redirects=True) as browser:
        form = browser.get("/account/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token
        approver = office.demo["approver"]
        data = {"login": approver["email"], "password": approver["password"], "csrfmiddlewaretoken": token.group(1)}
        assert browser.post("/account/login/", data=data).is_success
        cookie = f"agentops_session={browser.cookies['agentops_session']}"
    return connect(f"ws://{live}/ws", additional_headers={"Cookie": cookie, "Origin": f"http://{live}"})


def test_an_approved_payment_is_made_and_open_pages_are_told(stack: Stack, clerk: Office) -> None:
    with listening(stack, clerk) as socket:
        run = clerk.start("INV-1001").json()["id"]
        asked = clerk.asked(run)
        while json.loads(socket.recv(timeout=60)) != {"type": "row.changed", "kind": "approval", "id": asked["id"]}:
            pass
        assert clerk.approve(asked).status_code == 201
        while json.loads(socket.recv(timeout=60)) != {"type": "row.changed", "kind": "run", "id": run}:
            pass
    assert clerk.finish(run)["status"] == "succeeded"
    assert len(clerk.payments("INV-1001")) == 1


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
