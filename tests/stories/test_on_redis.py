"""The services of compose.yaml with a real Redis as broker and live layer, and what they survive."""

import json
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import ClientConnection, connect

from agentops.embedded.postgres import Server
from tests.missing import not_here
from tests.stories.bank import Bank
from tests.stories.conftest import SILENT_SECONDS
from tests.stories.office import Office
from tests.stories.stack import Stack, has_redis
from tests.up import until

LONG = 300.0
VISIBLE_SECONDS = 2


@pytest.fixture(scope="module")
def stack(server: Server, bank: Bank) -> Iterator[Stack]:
    if not has_redis():
        not_here("redis-server was not found")
    folder = Path(tempfile.mkdtemp(prefix="agentops-stack-"))
    (folder / "static").mkdir()
    server.make_database("stories")
    seconds = {"AGENTOPS_SILENT_SECONDS": str(SILENT_SECONDS), "AGENTOPS_VISIBILITY_SECONDS": str(VISIBLE_SECONDS)}
    made = Stack(folder, server, "stories", seconds, bank.host)
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
    with httpx2.Client(base_url=f"http://{live}", follow_redirects=True, timeout=60) as browser:
        form = browser.get("/account/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token
        approver = office.demo["approver"]
        data = {"login": approver["email"], "password": approver["password"], "csrfmiddlewaretoken": token.group(1)}
        assert browser.post("/account/login/", data=data).is_success
        cookie = f"agentops_session={browser.cookies['agentops_session']}"
    headers = {"Cookie": cookie, "Origin": f"http://{live}"}
    return connect(f"ws://{live}/ws", additional_headers=headers, open_timeout=60)


def hears(socket: ClientConnection, kind: str, row: str, seconds: float = 60) -> bool:
    """Whether the socket is told in time that this row changed."""
    return hears_that(socket, {"type": "row.changed", "kind": kind, "id": row}, seconds)


def hears_that(socket: ClientConnection, said: dict[str, str], seconds: float = 60) -> bool:
    """Whether this is said in time."""
    ends = time.monotonic() + seconds
    with suppress(TimeoutError):
        while json.loads(socket.recv(max(ends - time.monotonic(), 0))) != said:
            pass
        return True
    return False


def test_an_approved_payment_is_made_and_open_pages_are_told(stack: Stack, clerk: Office) -> None:
    with listening(stack, clerk) as socket:
        run = clerk.start("INV-1001").json()["id"]
        asked = clerk.asked(run)
        assert hears(socket, "approval", asked["id"])
        assert clerk.approve(asked).status_code == 201
        assert hears(socket, "run", run)
    assert clerk.finish(run)["status"] == "succeeded"
    assert len(clerk.payments("INV-1001")) == 1


@pytest.mark.parametrize("service", ["web", "live", "worker", "beat"])
def test_its_health_check_is_content(stack: Stack, clerk: Office, service: str) -> None:
    until(lambda: stack.is_healthy(service), LONG)


def test_an_emptied_broker_loses_nothing(stack: Stack, clerk: Office) -> None:
    stack.signal("worker", signal.SIGSTOP)
    run = clerk.start("INV-1002").json()["id"]
    stack.redis("flushall")
    stack.signal("worker", signal.SIGCONT)
    asked = clerk.asked(run)
    stack.redis("flushall")
    assert clerk.approve(asked).status_code == 201
    stack.redis("flushall")
    assert clerk.finish(run)["status"] == "succeeded"
    assert len(clerk.payments("INV-1002")) == 1


def test_a_socket_that_was_open_meanwhile_is_told_to_look_again_and_hears_what_follows(
    stack: Stack, clerk: Office
) -> None:
    with listening(stack, clerk) as socket:
        stack.end("redis", signal.SIGKILL)
        assert clerk.start("INV-1006").status_code == 201
        stack.start("redis")
        stack.wait_for_redis()
        assert hears_that(socket, {"type": "facts.missed"}, LONG)
        until(lambda: hears(socket, "run", clerk.start("INV-1006").json()["id"], 5), LONG)


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
    until(lambda: clerk.readiness()["ready"], LONG)


def test_a_decision_outlives_the_web_process_that_could_not_tell_the_broker(
    stack: Stack, clerk: Office, bank: Bank
) -> None:
    clerk.employ(bank, "bank_once", "POST", "write", timeout_ms=20_000)
    run = clerk.call("bank_once", 1)
    asked = clerk.asked(run)
    stack.signal("redis", signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(clerk.approve, asked)
        until(lambda: clerk.approval(asked["id"])["status"] == "approved", LONG)
        stack.end("web", signal.SIGKILL)
        stack.signal("redis", signal.SIGCONT)
        with suppress(httpx2.TransportError):
            answer.result()
    bank.wait_for("POST /bank_once/1")
    stack.start("web")
    until(lambda: clerk.readiness()["ready"], LONG)
    until(lambda: clerk.step(run, "bank_once")["status"] == "succeeded", LONG)
    assert bank.seen.count("POST /bank_once/1") == 1


def test_a_worker_asked_to_stop_finishes_its_call_and_leaves_the_rest(stack: Stack, clerk: Office, bank: Bank) -> None:
    clerk.employ(bank, "bank_slow", "POST", "write", timeout_ms=20_000)
    first, second = clerk.call("bank_slow", 1), clerk.call("bank_slow", 2)
    waiting = clerk.asked(second)
    bank.hold()
    assert clerk.approve(clerk.asked(first)).status_code == 201
    bank.wait_for("POST /bank_slow/1")
    stack.signal("worker", signal.SIGTERM)
    assert clerk.approve(waiting).status_code == 201
    bank.let_go()
    assert stack.end("worker", signal.SIGCONT) == 0
    assert clerk.step(first, "bank_slow")["status"] == "succeeded"
    stack.start("worker")
    until(lambda: clerk.step(second, "bank_slow")["status"] == "succeeded", LONG)
    assert bank.seen.count("POST /bank_slow/1") == bank.seen.count("POST /bank_slow/2") == 1


def test_readiness_is_red_while_a_silent_worker_or_no_beat_leaves_work_waiting(stack: Stack, clerk: Office) -> None:
    until(lambda: clerk.readiness()["ready"], LONG)
    stack.signal("worker", signal.SIGSTOP)
    run = clerk.start("INV-1005").json()["id"]
    until(lambda: not clerk.readiness()["ready"], LONG)
    assert clerk.readiness()["database"] == clerk.readiness()["broker"] == "ok"
    stack.signal("worker", signal.SIGCONT)
    until(lambda: clerk.readiness()["ready"], LONG)
    clerk.asked(run)
    stack.end("beat", signal.SIGKILL)
    until(lambda: clerk.readiness()["beat"].startswith("silent for"), LONG)
    assert clerk.readiness()["worker"] == "ok"
    assert not stack.is_healthy("beat")
    stack.start("beat")
    until(lambda: clerk.readiness()["ready"], LONG)
