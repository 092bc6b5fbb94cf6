"""People and programs at the REST door who ask again until they have an answer."""

import time
from collections.abc import Callable
from typing import Any

import httpx2

PATIENCE_SECONDS = 90.0
_AGAIN = frozenset({500, 502, 503, 504})


class Desk:
    """One person or program. What is asked is safe to ask twice, so a lost answer is asked for again."""

    def __init__(self, url: str, key: str, over: Callable[[], bool] = lambda: False) -> None:
        self._client = httpx2.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=20)
        self._over = over

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def start(self, agent: str, ref: str, mode: str = "ok") -> str:
        """A run with this reference, which no other has; asked again after a lost answer, it is the same run."""
        body = {"agent": agent, "task": f"Do {ref}", "input": {"ref": ref, "mode": mode}}
        answer, tries = self._answered("POST", "/runs", json=body, headers={"Idempotency-Key": ref})
        # Only after a try whose answer was lost may the run be there already.
        assert answer.status_code == 201 or (answer.status_code == 200 and tries > 1), answer.text
        return str(answer.json()["id"])

    def run(self, run: str) -> dict[str, Any]:
        """The run as it is now."""
        found: dict[str, Any] = self.ask("GET", f"/runs/{run}").json()
        return found

    def steps(self, run: str) -> list[dict[str, Any]]:
        """Its steps, by turn and place."""
        found: list[dict[str, Any]] = self.ask("GET", f"/runs/{run}/steps").json()["results"]
        return found

    def decide(self, request: str, verdict: str = "approve") -> int:
        """Decide what is pending; the status of the answer. A decision whose answer was lost is found made."""
        digest = self.ask("GET", f"/approvals/{request}").json()["digest"]
        return self.decide_blind(request, digest, verdict)

    def decide_blind(self, request: str, digest: str, verdict: str = "approve") -> int:
        """The same, by somebody who knows the digest already."""
        body = {"verdict": verdict, "digest": digest}
        return self.ask("POST", f"/approvals/{request}/decisions", json=body).status_code

    def cancel(self, run: str) -> int:
        """The status of the answer."""
        return self.ask("POST", f"/runs/{run}/cancel", json={"reason": "changed my mind"}).status_code

    def ask(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        """The answer, however often it takes. Raises AssertionError when nobody answers in time."""
        return self._answered(method, path, **rest)[0]

    def _answered(self, method: str, path: str, **rest: Any) -> tuple[httpx2.Response, int]:
        """The same, and how often it took."""
        tries, ends = 0, time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < ends and not self._over():
            tries += 1
            try:
                answer = self._client.request(method, path, **rest)
            except httpx2.HTTPError:
                time.sleep(0.2)
                continue
            if answer.status_code not in _AGAIN:
                return answer, tries
            time.sleep(0.2)
        raise AssertionError(f"no answer to {method} {path} in {PATIENCE_SECONDS} s")
