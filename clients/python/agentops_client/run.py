"""A run of an outside agent: its calls are proposed here and made by the server."""

import asyncio
import functools
import inspect
import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx2

from agentops_client.errors import CallFailed, Problem, Refused, StillWaiting, UnknownOutcome

if TYPE_CHECKING:
    from agentops_client.client import AgentOps

_OPEN = {"proposed", "held", "cleared", "running", "stale"}
# The server is heard from every 15 s also when nothing happens.
_SILENCE = 20.0
_PAUSE = 0.5
WAIT = 600.0


class Run:
    """One run. Calls of several threads are made one after the other: a run has one open turn at a time."""

    def __init__(self, server: "AgentOps", run_id: str) -> None:
        self._server, self.id = server, run_id
        self._turn, self._seen = threading.Lock(), 0
        self.answer = ""

    def governed[**P, R](self, function: Callable[P, R], *, wait: float = WAIT) -> Callable[P, R]:
        """The same signature, but the call is made by the tool of the function's name; its own body never runs.

        Raises Refused, CallFailed, UnknownOutcome, or StillWaiting after `wait` seconds.
        """
        name, signature = function.__name__, inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return self.call(name, bound.arguments, wait=wait)

        async def call_async(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(call, *args, **kwargs)

        chosen = call_async if inspect.iscoroutinefunction(function) else call
        return functools.wraps(function)(chosen)

    def call(self, tool: str, args: dict[str, Any], *, why: str = "", wait: float = WAIT) -> Any:
        """The tool's result, after every rule and person it needs. Raises as `governed` does."""
        until = time.monotonic() + wait
        with self._turn:
            step = self._settled(self._proposed(tool, args, why, until), until)
        return _result(step)

    def finish(self, answer: str | None = None) -> None:
        """End the run as succeeded, unless it is over already."""
        proposal = {"kind": "finish", "answer": self.answer if answer is None else answer}
        self._unless_over(f"/runs/{self.id}/proposals", {"proposals": [proposal]})

    def cancel(self, reason: str = "") -> None:
        """Cancel it, unless it is over already. A call in flight is told to stop."""
        self._unless_over(f"/runs/{self.id}/cancel", {"reason": reason})

    def _unless_over(self, path: str, body: dict[str, Any]) -> None:
        try:
            self._server.post(path, body)
        except Problem as problem:
            if problem.code != "run_finished":
                raise

    def _proposed(self, tool: str, args: dict[str, Any], why: str, until: float) -> dict[str, Any]:
        proposal = {"kind": "tool", "tool": tool, "args": args, "why": why}
        open_step = self._open_step()
        if open_step and (open_step["tool"], open_step["args"]) == (tool, args):
            return open_step
        if open_step:
            self._settled(open_step, until)
        told = self._server.post(f"/runs/{self.id}/proposals", {"proposals": [proposal]})
        step: dict[str, Any] = told["steps"][0]
        refusal = step["refusal"] or {}
        if refusal.get("code") == "repeated_action" and refusal.get("earlier_step"):
            return self._step(refusal["earlier_step"])
        return step

    def _open_step(self) -> dict[str, Any] | None:
        return next((step for step in self._steps() if step["status"] in _OPEN | {"unknown"}), None)

    def _steps(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._server.get(f"/runs/{self.id}/steps")["results"]
        return found

    def _step(self, step_id: str) -> dict[str, Any]:
        return next(step for step in self._steps() if step["id"] == step_id)

    def _settled(self, step: dict[str, Any], until: float) -> dict[str, Any]:
        while step["status"] in _OPEN:
            left = until - time.monotonic()
            if left <= 0:
                raise StillWaiting(step["id"], step["approval"])
            self._followed(step["id"], left)
            step = self._step(step["id"])
        return step

    def _followed(self, step_id: str, seconds: float) -> None:
        """Read the run's events until the step is settled, the stream ends or is cut, or time is up."""
        until = time.monotonic() + seconds
        try:
            for event in self._server.events(self.id, self._seen, min(_SILENCE, seconds)):
                self._seen = event["seq"]
                told = event["data"]
                if told.get("step") == step_id and told.get("status") not in _OPEN:
                    return
                if time.monotonic() >= until:
                    return
        except httpx2.TransportError:
            time.sleep(min(_PAUSE, max(0.0, until - time.monotonic())))


def _result(step: dict[str, Any]) -> Any:
    if step["status"] == "unknown":
        raise UnknownOutcome(step["tool"])
    if step["refusal"]:
        raise Refused(step["refusal"])
    seen = step["observation"] or {}
    if step["status"] != "succeeded":
        raise CallFailed(seen.get("content") or f"{step['tool']} ended as {step['status']}.")
    return _value(seen)


def _value(seen: dict[str, Any]) -> Any:
    if seen.get("truncated"):
        return seen["content"]
    try:
        return json.loads(seen["content"])
    except (KeyError, ValueError):
        return seen.get("content")
