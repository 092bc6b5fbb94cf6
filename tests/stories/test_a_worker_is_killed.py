"""The whole product in real processes: its worker is killed with -9 in the middle of a call."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]


class Bank:
    """A server outside that records what reaches it and takes two seconds to answer."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.arrived = threading.Event()
        bank = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                bank.seen.append(f"GET {self.path}")
                bank.arrived.set()
                time.sleep(2)
                self._answer()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                bank.seen.append(f"POST {self.path}")
                bank.arrived.set()
                time.sleep(2)
                self._answer()

            def _answer(self) -> None:
                body = b'{"ok":true}'
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"


class Product:
    """`manage.py up` in a folder of its own."""

    def __init__(self, home: Path, bank: Bank) -> None:
        self.port = _free_port()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("AGENTOPS_", "DATABASE_", "REDIS_"))}
        environment |= {"AGENTOPS_ALLOWED_PRIVATE_HOSTS": bank.host}
        environment.pop("SECRET_KEY", None)
        self.log = (home.parent / "up.log").open("wb")
        command = [sys.executable, "manage.py", "up", "--home", str(home), "--port", str(self.port)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=self.log, stderr=self.log)
        self.demo: dict[str, Any] = json.loads(until(lambda: _text(home / "demo.json"), 120))
        self.service = self._client(self.demo["api_key"])
        self.approver = self._client(self.demo["approver"]["api_key"])

    def kill_worker(self) -> None:
        """kill -9 of the worker that runs now."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        (worker,) = [c for c in children if c.cmdline()[-2:] == ["agentops.embedded.child", "worker"]]
        worker.send_signal(signal.SIGKILL)

    def stop(self) -> None:
        self.service.close()
        self.approver.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(40)
        self.log.close()

    def _client(self, key: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx2.Client(base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=headers, timeout=30)


def until[T](look: Callable[[], T | None], seconds: float = 60) -> T:
    """What `look` gives as soon as it gives something."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


@pytest.fixture(scope="module")
def bank() -> Iterator[Bank]:
    made = Bank()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def product(bank: Bank) -> Iterator[Product]:
    with tempfile.TemporaryDirectory(prefix="agentops-story-") as folder:
        Path(folder).chmod(0o755)
        running = Product(Path(folder) / "home", bank)
        try:
            yield running
        finally:
            running.stop()


def _tool(bank: Bank, name: str, method: str, risk: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Talks to the bank of this story.",
        "kind": "http",
        "risk": risk,
        "required_scope": "ledger:read",
        "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "timeout_ms": 4000,
        "output_trust": "trusted",
        "http": {"method": method, "url": f"http://{bank.host}/{name}/{{args.n}}"},
    }


def _start(product: Product, tool: str) -> str:
    agent = {"slug": f"story-{tool.replace('_', '-')}", "name": tool, "planner": "external", "tools": [tool]}
    assert product.service.post("/agents", json=agent).status_code == 201
    run: str = product.service.post("/runs", json={"agent": agent["slug"], "task": "Try"}).json()["id"]
    proposal = {"kind": "tool", "tool": tool, "args": {"n": 1}}
    answer = product.service.post(f"/runs/{run}/proposals", json={"proposals": [proposal]})
    assert answer.status_code == 201, answer.text
    return run


def _step(product: Product, run: str) -> dict[str, Any]:
    found: dict[str, Any] = product.service.get(f"/runs/{run}/steps").json()["results"][0]
    return found


def test_a_mutation_in_flight_ends_unknown_and_is_never_made_twice(product: Product, bank: Bank) -> None:
    made = product.service.post("/tools", json=_tool(bank, "bank_pay", "POST", "destructive"))
    assert made.status_code == 201, made.text
    run = _start(product, "bank_pay")
    (approval,) = product.service.get(f"/runs/{run}").json()["open_approvals"]
    digest = product.approver.get(f"/approvals/{approval}").json()["digest"]
    bank.arrived.clear()
    decided = product.approver.post(f"/approvals/{approval}/decisions", json={"verdict": "approve", "digest": digest})
    assert decided.status_code == 201, decided.text
    assert bank.arrived.wait(20)
    product.kill_worker()
    until(lambda: _step(product, run)["status"] == "unknown", 60)
    time.sleep(3)
    assert _step(product, run)["status"] == "unknown"
    assert bank.seen.count("POST /bank_pay/1") == 1
    assert product.service.get(f"/runs/{run}").json()["status"] == "observing"


def test_a_read_in_flight_is_made_again_and_completes(product: Product, bank: Bank) -> None:
    made = product.service.post("/tools", json=_tool(bank, "bank_read", "GET", "read"))
    assert made.status_code == 201, made.text
    bank.arrived.clear()
    run = _start(product, "bank_read")
    assert bank.arrived.wait(20)
    product.kill_worker()
    until(lambda: _step(product, run)["status"] == "succeeded", 60)
    assert [a["outcome"] for a in _step(product, run)["attempts"]] == ["lost", "succeeded"]
    assert bank.seen.count("GET /bank_read/1") == 2


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
