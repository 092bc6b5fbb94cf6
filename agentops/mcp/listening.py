"""`subscriptions/listen`: tells each stream when its own list of tools has changed, and ends it with its token."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from django.db import Error as DatabaseFault
from django.utils import timezone
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, SubscriptionsListenRequestParams, SubscriptionsListenResult, Tool

from agentops.mcp.admission import prepare
from agentops.mcp.answers import Refused
from agentops.mcp.bearer import principal_of
from agentops.mcp.hearing import ears
from agentops.mcp.listing import tools_of
from agentops.mcp.room import Room
from agentops.mcp.visit import Visit, here

MOST_STREAMS: Final = 1024
MOST_OF_ONE: Final = 32
LOOK_EVERY: Final = 10.0
"""A token that was revoked keeps its streams this long; nothing but the fact of a change passes through them."""
_room: Final = Room(MOST_STREAMS, of_one=MOST_OF_ONE)


async def listen(
    ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
) -> SubscriptionsListenResult:
    """One stream, with a bus of its own: nobody else's changes can come through it."""
    visit = here()
    with _room.place(visit.bearer.grant) as is_free:
        if not is_free:
            raise MCPError(INTERNAL_ERROR, "Too many streams are open here.")
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        watch = asyncio.create_task(_watch(visit, await _list_now(visit), bus, handler))
        try:
            return await handler(ctx, params)
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch


async def _watch(visit: Visit, known: list[Tool] | None, bus: InMemorySubscriptionBus, handler: ListenHandler) -> None:
    heard = asyncio.Event()
    run = visit.offer.run if visit.offer else None
    concerning = {"", str(visit.run_id or (run.id if run else ""))}

    def hear(kind: str, row_id: str) -> None:
        if kind in {"tool", "agent", "workflow"} or row_id in concerning:
            heard.set()

    async with ears.listening(visit.bearer.actor.tenant_id, hear):
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(heard.wait(), _patience(visit))
            heard.clear()
            found = await _list_again(visit, known)
            if found is None:
                handler.close()
                return
            if found != known:
                known = found
                await bus.publish(ToolsListChanged())


def _patience(visit: Visit) -> float:
    """Until the next look: no later than the end of the token."""
    ends = visit.bearer.expires_at
    return LOOK_EVERY if ends is None else max(0.0, min(LOOK_EVERY, (ends - timezone.now()).total_seconds()))


async def _list_again(visit: Visit, known: list[Tool] | None) -> list[Tool] | None:
    """The same list while the database is away: the next look tells what this one would have."""
    try:
        return await _list_now(visit)
    except DatabaseFault:
        return known


async def _list_now(visit: Visit) -> list[Tool] | None:
    """What would be listed now; None when nobody may ask any more."""
    bearer = await principal_of(visit.token, visit.resource)
    if bearer is None:
        return None
    try:
        return tools_of(await prepare(replace(visit, bearer=bearer)))
    except Refused:
        return None
