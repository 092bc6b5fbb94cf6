"""The people and programs of the demo at work over REST, with the keys of demo.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Page

from tests.stories.bank import Bank
from tests.up import until


class Office:
    """A client each for the service, alice, bob and mallory, and one for the ledger."""

    def __init__(self, file: Path) -> None:
        self.demo: dict[str, Any] = json.loads(file.read_text())
        self.url: str = self.demo["url"]
        self.service = self._client(self.demo["api_key"])
        self.alice = self._client(self.demo["operator"]["api_key"])
        self.bob = self._client(self.demo["approver"]["api_key"])
        self.mallory = self._client(self.demo["mallory_api_key"])
        self.ledger = self._client(self.demo["api_key"], "/demo/ledger")

    def close(self) -> None:
        """End every connection."""
        for client in (self.service, self.alice, self.bob, self.mallory, self.ledger):
            client.close()

    def sign_in(self, page: Page, who: str) -> None:
        """In the browser, with the password of demo.json."""
        page.goto(f"{self.url}/")
        page.get_by_label("Email").fill(self.demo[who]["email"])
        page.get_by_label("Password").fill(self.demo[who]["password"])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.url}/inbox")

    def start(self, invoice: str, key: str | None = None) -> httpx2.Response:
        """Have the demo agent pay an invoice."""
        body = {"agent": "demo", "task": f"Pay invoice {invoice}", "input": {"invoice": invoice}}
        return self.service.post("/runs", json=body, headers={"Idempotency-Key": key} if key else {})

    def run(self, run: str) -> dict[str, Any]:
        """The run as it is now."""
        return _body(self.service.get(f"/runs/{run}"))

    def steps(self, run: str) -> list[dict[str, Any]]:
        """Its steps."""
        found: list[dict[str, Any]] = _body(self.service.get(f"/runs/{run}/steps"))["results"]
        return found

    def step(self, run: str, tool: str) -> dict[str, Any]:
        """Its only step with this tool."""
        (found,) = [step for step in self.steps(run) if step["tool"] == tool]
        return found

    def asked(self, run: str, tool: str = "") -> dict[str, Any]:
        """What waits for a person in this run, as bob sees it, as soon as something does."""
        return until(lambda: self._asked(run, tool), 300)

    def approval(self, request: str) -> dict[str, Any]:
        """A request as bob sees it now."""
        return _body(self.bob.get(f"/approvals/{request}"))

    def approve(self, asked: Mapping[str, Any], who: httpx2.Client | None = None) -> httpx2.Response:
        """Decide over REST; bob, unless somebody else does."""
        body = {"verdict": "approve", "digest": asked["digest"]}
        return (who or self.bob).post(f"/approvals/{asked['id']}/decisions", json=body)

    def ended(self, run: str, seconds: float = 300) -> dict[str, Any]:
        """The run when it is over."""
        return until(lambda: found if (found := self.run(run))["finished_at"] else None, seconds)

    def finish(self, run: str) -> dict[str, Any]:
        """Approve the note that follows the payment, and see the run end."""
        assert self.approve(self.asked(run, "note_add")).status_code == 201
        return self.ended(run)

    def payments(self, invoice: str) -> list[dict[str, Any]]:
        """What the ledger has paid."""
        rows = _body(self.ledger.get("/payments"))["results"]
        return [row for row in rows if row["invoice_id"] == invoice]

    def employ(self, bank: Bank, name: str, method: str, risk: str, timeout_ms: int) -> None:
        """Register a tool that talks to the bank, and an external agent of the same name that has it."""
        fields = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        tool = {
            "name": name,
            "description": "Talks to the bank of this story.",
            "kind": "http",
            "risk": risk,
            "required_scope": "ledger:read",
            "input_schema": fields,
            "timeout_ms": timeout_ms,
            "output_trust": "trusted",
            "http": {"method": method, "url": f"http://{bank.host}/{name}/{{args.n}}"},
        }
        assert self.service.post("/tools", json=tool).status_code == 201
        agent = {"slug": name.replace("_", "-"), "name": name, "planner": "external", "tools": [name]}
        assert self.service.post("/agents", json=agent).status_code == 201

    def call(self, name: str, n: int) -> str:
        """A new run whose agent proposes this one call."""
        run: str = _body(self.service.post("/runs", json={"agent": name.replace("_", "-"), "task": "Try"}))["id"]
        self.propose(run, {"kind": "tool", "tool": name, "args": {"n": n}})
        return run

    def propose(self, run: str, proposal: Mapping[str, Any]) -> None:
        """As the agent outside does."""
        answer = self.service.post(f"/runs/{run}/proposals", json={"proposals": [proposal]})
        assert answer.status_code == 201, answer.text

    def readiness(self) -> dict[str, Any]:
        """What /readyz says; nothing is ready where nobody answers."""
        try:
            answer: dict[str, Any] = httpx2.get(f"{self.url}/readyz", timeout=30).json()
        except httpx2.TransportError:
            return {"ready": False}
        return answer

    def _asked(self, run: str, tool: str) -> dict[str, Any] | None:
        for approval in self.run(run)["open_approvals"]:
            found = self.approval(approval)
            if tool in ("", found["tool"]):
                return found
        return None

    def _client(self, key: str, path: str = "/api/v1") -> httpx2.Client:
        return httpx2.Client(base_url=self.url + path, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def _body(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found
