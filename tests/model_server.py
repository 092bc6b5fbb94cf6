"""A model's server on a real socket, speaking OpenAI's chat completions and Anthropic's messages, as each test says."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.tools.server import Behaviour, Received, Server, answering, serving

USAGE = (100, 20)


@dataclass
class ModelServer:
    """Answers requests with `script` in order, the last one for ever; `prompts` are the bodies as they came."""

    server: Server
    script: list[Behaviour]
    behaved: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        return self.server.host

    @property
    def url(self) -> str:
        """The base address for OpenAI's protocol."""
        return self.server.url("/v1")

    @property
    def requests(self) -> list[Received]:
        return self.server.requests

    @property
    def prompts(self) -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.server.requests]

    def said(self, at: int = -1) -> str:
        """Everything that the request held, as one text."""
        return json.dumps(self.prompts[at], ensure_ascii=False)


@contextmanager
def model_serving(*script: Behaviour) -> Iterator[ModelServer]:
    """The server, listening, until the block ends."""

    def behave(connection: socket.socket, request: Received, stop: threading.Event) -> bool:
        with found.guard:
            behaviour = found.script[min(found.behaved, len(found.script) - 1)]
            found.behaved += 1
        return behaviour(connection, request, stop)

    found = ModelServer(Server(0), list(script))
    with serving(behave) as server:
        found.server = server
        yield found


def saying(text: str, *, usage: tuple[int, int] | None = USAGE, finish: str = "stop") -> Behaviour:
    """Text alone."""
    return _answer(text, [], usage, finish)


def calling(*calls: tuple[str, Any], text: str = "", usage: tuple[int, int] | None = USAGE, finish: str = "",
            ) -> Behaviour:  # fmt: skip
    """Calls: a name, and arguments as a value or as their very text."""
    return _answer(text, list(calls), usage, finish or "tool_calls")


def _answer(text: str, calls: list[tuple[str, Any]], usage: tuple[int, int] | None, finish: str) -> Behaviour:
    def behave(connection: socket.socket, request: Received, stop: threading.Event) -> bool:
        write = _anthropic if "/messages" in request.target else _openai
        body = write(text, [(name, _text(args)) for name, args in calls], usage, finish)
        return answering(200, body.encode(), Content_Type="application/json")(connection, request, stop)

    return behave


def _text(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def _openai(text: str, calls: list[tuple[str, str]], usage: tuple[int, int] | None, finish: str) -> str:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": args}}
            for place, (name, args) in enumerate(calls)
        ]
    body: dict[str, Any] = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "native_finish_reason": finish}],
        "provider": "stub",
    }  # fmt: skip
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return json.dumps(body)


_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def _anthropic(text: str, calls: list[tuple[str, str]], usage: tuple[int, int] | None, finish: str) -> str:
    blocks = [json.dumps({"type": "text", "text": text})] if text else []
    for place, (name, args) in enumerate(calls):
        blocks.append(f'{{"type": "tool_use", "id": "t{place}", "name": {json.dumps(name)}, "input": {args}}}')
    spent = usage or (0, 0)
    return (
        f'{{"id": "m", "type": "message", "role": "assistant", "model": "stub", "content": [{", ".join(blocks)}],'
        f' "stop_reason": "{_REASONS[finish]}", "stop_sequence": null,'
        f' "usage": {{"input_tokens": {spent[0]}, "output_tokens": {spent[1]}}}}}'
    )
