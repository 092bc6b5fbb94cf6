"""Who waits goes on hearing when the layer or the database was away; what a fault says stays inside; room for all."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import uuid4

import pytest
from channels.layers import get_channel_layer
from mcp import MCPError
from psycopg import Connection

from agentops.mcp.hearing import Ears
from agentops.mcp.listening import MOST_OF_ONE
from agentops.telling import MISSED
from tests.mcp.conftest import ERAS, Connect
from tests.runs.scenario import Stage
from tests.up import until
from tools.operations import set_enabled

CHANGED = {"type": "row.changed", "kind": "run", "id": "one"}
_CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE usename = 'agentops_app' AND wait_event_type = 'Lock' AND query LIKE %s
"""


@contextmanager
def _held(superuser: Connection[Any], lock: str, table: str) -> Iterator[None]:
    """Somebody has this lock until the first statement that waits for the table lost its connection."""

    def is_cut() -> bool:
        superuser.execute("SELECT pg_stat_clear_snapshot()")
        return bool(superuser.execute(_CUT, [f"%{table}%"]).fetchall())

    with superuser.transaction():
        superuser.execute(lock)
        yield
        until(is_cut)


async def test_who_waits_looks_again_when_facts_were_missed_and_hears_what_follows(database: None) -> None:
    ears, tenant_id = Ears(), uuid4()
    heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    layer, group = get_channel_layer(), f"tenant.{tenant_id}"
    assert layer is not None
    async with ears.listening(tenant_id, lambda kind, row_id: heard.put_nowait((kind, row_id))):
        assert await asyncio.wait_for(heard.get(), 20) == ("", "")
        for message, told in ((MISSED, ("", "")), (CHANGED, ("run", "one"))):
            async with asyncio.timeout(20):
                while await _next(heard) != told:
                    # Said again: what a channel is told before it first listens is not heard.
                    await layer.group_send(group, message)
    await ears.close()


async def _next(heard: "asyncio.Queue[tuple[str, str]]") -> tuple[str, str] | None:
    with suppress(TimeoutError):
        return await asyncio.wait_for(heard.get(), 0.5)
    return None


def test_a_stream_outlives_a_look_that_lost_its_connection(
    stage: Stage, connect: Connect, superuser: Connection[Any]
) -> None:
    agent = connect()
    with agent.listening() as told:
        with _held(superuser, "LOCK TABLE tenancy_apikey IN ACCESS EXCLUSIVE MODE", "tenancy_apikey"):
            set_enabled(stage.cast.carol.actor, "t_note", enabled=False)
        set_enabled(stage.cast.carol.actor, "t_page", enabled=False)
        assert told.get(timeout=60) == "changed"
    assert {"t_note", "t_page"}.isdisjoint(agent.names())


@pytest.mark.parametrize("era", ERAS)
def test_what_a_fault_of_ours_says_stays_inside(
    stage: Stage, connect: Connect, superuser: Connection[Any], era: str
) -> None:
    run_id = stage.outside()
    agent = connect(era, path=f"/mcp/r/{run_id}")
    assert agent.names()
    with _held(superuser, f"SELECT 1 FROM runs_work_item WHERE id = '{run_id}' FOR UPDATE", "runs_work_item"):
        call = agent.begin("t_read", account=stage.account)
    with pytest.raises(MCPError) as refused:
        call.result(60)
    assert (refused.value.error.code, refused.value.error.message) == (-32603, "Internal server error")
    assert stage.steps(run_id) == []


def test_one_key_cannot_take_every_stream(stage: Stage, connect: Connect) -> None:
    agent, other = connect(), connect(key=stage.cast.other_service.raw_key)
    with ExitStack() as streams:
        for _ in range(MOST_OF_ONE):
            streams.enter_context(agent.listening())
        with pytest.raises(MCPError, match="Too many streams"):
            streams.enter_context(agent.listening())
        streams.enter_context(other.listening())
