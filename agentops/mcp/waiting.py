"""Waits for a call to settle: for people as long as its client bears, for our own workers a little longer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from agentops.mcp.bearer import principal_of
from agentops.mcp.hearing import ears
from agentops.mcp.profiles import EXECUTION_SECONDS
from agentops.mcp.room import Room
from agentops.mcp.threads import in_thread
from agentops.mcp.visit import Visit
from runs.domain.step import FINAL, StepStatus
from runs.queries import StepView
from runs.readback import own_call

LOOK_EVERY: Final = 5.0
"""A fact that was lost costs this long."""
TELL_EVERY: Final = 2.0
_room: Final = Room(1024, of_one=64)
type Tell = Callable[[float, str], Awaitable[None]]
"""Tells the client that the call is alive: seconds so far, and what is awaited."""


async def settled(
    visit: Visit, step_id: UUID, *, people: float, tell: Tell, machines: float = EXECUTION_SECONDS
) -> StepView:
    """The call once it is settled, or as it stands when its time is over: seconds for people, and for our workers.

    Where too many wait already it is told as it stands, and its client asks again.
    """
    with _room.place(visit.bearer.grant) as is_free:
        return await _settled(visit, step_id, people if is_free else 0, machines if is_free else 0, tell)


async def _settled(visit: Visit, step_id: UUID, people: float, machines: float, tell: Tell) -> StepView:
    began, heard = time.monotonic(), asyncio.Event()
    run_ids = {""}

    def hear(_: str, row_id: str) -> None:
        if row_id in run_ids:
            heard.set()

    async with ears.listening(visit.bearer.actor.tenant_id, hear):
        while True:
            heard.clear()
            view = await in_thread(own_call)(visit.bearer.actor, step_id)
            run_ids.add(str(view.step.run_id))
            spent = time.monotonic() - began
            left = (people if is_held(view) else max(people, machines)) - spent
            if is_settled(view) or left <= 0:
                return view
            await _nap(heard, min(left, LOOK_EVERY), tell, began, view)


async def still_welcome(visit: Visit) -> None:
    """A token may have ended while its call was held: what came of the call is then not its holder's to read."""
    if await principal_of(visit.token, visit.resource) is None:
        raise MCPError(INVALID_REQUEST, "The token is not valid any more.")


def is_settled(view: StepView) -> bool:
    """Whether there is an outcome to tell: an unknown one is told too, since only people can change it."""
    status = StepStatus(view.step.status)
    return status in FINAL or status is StepStatus.UNKNOWN


def is_held(view: StepView) -> bool:
    """Whether people are awaited."""
    return view.step.status == StepStatus.HELD.value


async def _nap(heard: asyncio.Event, seconds: float, tell: Tell, began: float, view: StepView) -> None:
    """Until something was heard or the seconds are over, telling the client meanwhile."""
    ends = time.monotonic() + seconds
    awaited = "a person's approval" if is_held(view) else "the call"
    while (left := ends - time.monotonic()) > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(heard.wait(), min(left, TELL_EVERY))
            return
        await tell(round(time.monotonic() - began, 1), f"Waiting for {awaited}.")
