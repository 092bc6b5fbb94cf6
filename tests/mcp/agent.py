"""Somebody else's agent: the SDK's own client over a real socket, driven from a plain test."""

import json
import queue
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

LEGACY, MODERN = "legacy", "2026-07-28"


@dataclass
class Agent:
    """One connected client. `headers`: sent with each request."""

    portal: BlockingPortal
    client: Client

    def tools(self) -> list[Tool]:
        """What the server lists now."""
        return self.portal.call(self._tools)

    def names(self) -> list[str]:
        return [tool.name for tool in self.tools()]

    def call(self, name: str, /, meta: Any = None, seconds: float = 30, **args: Any) -> CallToolResult:
        """Call a tool and wait for whatever is answered."""
        return self.begin(name, meta=meta, seconds=seconds, **args).result(seconds + 5)

    def begin(self, name: str, /, meta: Any = None, seconds: float = 30, **args: Any) -> "Future[CallToolResult]":
        """The same, without waiting; cancelling the future drops the connection of the call."""

        return self.portal.start_task_soon(self._called, name, args, meta, seconds)

    def call_with(self, name: str, args: dict[str, Any]) -> CallToolResult:
        """Call a tool with arguments of whatever names."""
        result: CallToolResult = self.portal.call(self._called, name, args, None, 30.0)
        return result

    async def _called(self, name: str, args: dict[str, Any], meta: Any, seconds: float) -> CallToolResult:
        result = await self.client.call_tool(name, args, read_timeout_seconds=seconds, meta=meta)
        assert isinstance(result, CallToolResult), result
        return result

    @contextmanager
    def listening(self) -> Iterator["queue.Queue[str]"]:
        """What the server tells of its list of tools, as it comes; `ended` when it ends the stream."""
        told: queue.Queue[str] = queue.Queue()

        async def follow(*, task_status: TaskStatus[None]) -> None:
            async with self.client.listen(tools_list_changed=True) as events:
                task_status.started()
                async for _ in events:
                    told.put("changed")
            told.put("ended")

        future, _ = self.portal.start_task(follow)
        yield told
        future.cancel()

    async def _tools(self) -> list[Tool]:
        return (await self.client.list_tools(cache_mode="bypass")).tools


@contextmanager
def connected(portal: BlockingPortal, url: str, raw_key: str, *, era: str = MODERN, **headers: str) -> Iterator[Agent]:
    """A client with this key."""
    with portal.wrap_async_context_manager(_client(url, raw_key, era, headers)) as client:
        yield Agent(portal, client)


@asynccontextmanager
async def _client(url: str, raw_key: str, era: str, headers: dict[str, str]) -> Any:
    said = {"Authorization": f"Bearer {raw_key}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=said, timeout=60))
        transport = streamable_http_client(url, http_client=http)
        yield await stack.enter_async_context(Client(transport, mode=era, cache=None))


def told(result: CallToolResult) -> dict[str, Any]:
    """The structure of an answer, which its text spells out too."""
    assert isinstance(result.structured_content, dict), result
    (block, *_) = result.content
    assert block.type == "text"
    assert json.loads(block.text) == result.structured_content
    return result.structured_content
