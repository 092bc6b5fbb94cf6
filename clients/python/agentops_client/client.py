"""The connection to a server: one key, requests that may be repeated, problems as exceptions."""

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import httpx2

from agentops_client.errors import Problem
from agentops_client.run import Run

_TRIES = 4
_AWAY = {502, 503, 504}


class AgentOps:
    """A server at `url`, for the holder of `api_key` (`runs:read`, `runs:write` and the tools' own scopes)."""

    def __init__(self, url: str, api_key: str, *, timeout: float = 30.0) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self._http = httpx2.Client(base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        """Use the connection for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the connection. Runs go on without it."""
        self._http.close()

    @contextmanager
    def run(self, agent: str, task: str, **fields: Any) -> Iterator[Run]:
        """A run of an external agent, finished at the end of the block, cancelled where the block raises.

        `fields` are the other members of `POST /runs`: `input`, `budget`, `on_behalf_of`, `workflow`.
        """
        started = self.post("/runs", {"agent": agent, "task": task, **fields})
        run = Run(self, started["id"])
        try:
            yield run
        except BaseException as error:
            run.cancel(f"The agent's program stopped: {type(error).__name__}")
            raise
        run.finish()

    def attach(self, run_id: str) -> Run:
        """A run that was started earlier, for example before this program was restarted."""
        return Run(self, run_id)

    def get(self, path: str) -> Any:
        """The answer to a GET."""
        return self._answer("GET", path)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a POST that is made once, also where it had to be sent again. Raises Problem."""
        return self._answer("POST", path, json=body, headers={"Idempotency-Key": uuid.uuid4().hex})

    def events(self, run_id: str, after: int, silence: float) -> Iterator[dict[str, Any]]:
        """The run's events after `after`, as they happen; a transport error after `silence` seconds without any."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        asked = self._http.stream("GET", f"/runs/{run_id}/events", headers=headers, timeout=silence)
        with asked as response:
            if not response.is_success:
                response.read()
                _read(response)
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    def _answer(self, method: str, path: str, **sent: Any) -> Any:
        for left in reversed(range(_TRIES)):
            try:
                response = self._http.request(method, path, **sent)
            except httpx2.TransportError:
                if not left:
                    raise
            else:
                if response.status_code not in _AWAY or not left:
                    return _read(response)
            time.sleep(0.5 * (_TRIES - left))
        raise AssertionError("unreachable")


def _read(response: httpx2.Response) -> Any:
    if response.is_success:
        return response.json()
    try:
        told = response.json()
    except ValueError:
        told = {}
    raise Problem(response.status_code, told.get("code", "http_error"), told.get("detail") or response.reason_phrase)
