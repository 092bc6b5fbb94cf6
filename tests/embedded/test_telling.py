"""Open pages are told which rows changed: many changes of one row in a moment are one message."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from channels.layers import get_channel_layer

from agentops.telling import Fact, Teller
from agentops.tenancy.ids import uuid7


def test_the_changes_of_a_moment_are_told_once_and_everything_is_told_when_it_has_finished() -> None:
    tenant, first, second = uuid7(), uuid7(), uuid7()
    teller = Teller()

    async def told() -> list[str]:
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        await layer.group_add(f"tenant.{tenant}", channel)
        for _ in range(50):
            teller.tell(Fact(tenant, "run", first))
        teller.tell(Fact(tenant, "approval", second))
        found: list[str] = []
        while str(second) not in found:
            found.append((await layer.receive(channel))["id"])
        return found

    with ThreadPoolExecutor(1) as thread:  # another test's browser may keep a loop running in this one
        found = thread.submit(asyncio.run, told()).result(30)
    assert found[-1] == str(second)
    assert len(found) <= 3, found
    teller.tell(Fact(tenant, "run", first))
    teller.finish()
    assert teller.is_idle
