"""The product served over a socket, a worker beside it, and agents that call."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from uuid import UUID

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from django.db import connections

from agentops.tenancy.transaction import tenant_transaction
from runs import execution
from runs.models import Run
from tests.cast import Cast
from tests.mcp.agent import LEGACY, MODERN, Agent, connected
from tests.runs.scenario import Stage, new_stage
from tests.served import Served

type Connect = Callable[..., Agent]
ERAS = (MODERN, LEGACY)


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """The event loop of the clients."""
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def stage(cast: Cast) -> Stage:
    """A tenant with one external agent."""
    stage = new_stage(cast)
    stage.external(budget={"steps": 200, "tool_calls": 200})
    return stage


@pytest.fixture
def worker(database: None) -> Iterator[None]:
    """Somebody who makes the calls that may be made."""
    over = threading.Event()
    thread = threading.Thread(target=_work, args=[over], daemon=True)
    thread.start()
    yield
    over.set()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def connect(served: Served, portal: BlockingPortal, stage: Stage) -> Iterator[Connect]:
    """Connect a client of an era, with the service account's key unless told otherwise."""
    with ExitStack() as opened:

        def connecting(
            era: str = MODERN, *, key: str = "", path: str = "/mcp", server: Served = served, **headers: str
        ) -> Agent:
            raw = key or stage.cast.service.raw_key
            client: AbstractContextManager[Agent] = connected(portal, server.url + path, raw, era=era, **headers)
            return opened.enter_context(client)

        yield connecting


def runs(stage: Stage) -> list[UUID]:
    """The runs of the stage's tenant, oldest first."""
    with tenant_transaction(stage.tenant_id):
        return list(Run.objects.order_by("created_at").values_list("id", flat=True))


def only_run(stage: Stage) -> UUID:
    """The run that the calls were made in."""
    (run_id,) = runs(stage)
    return run_id


def _work(over: threading.Event) -> None:
    look = partial(execution.work, "control", None)
    try:
        while not over.wait(0.02):
            look()
    finally:
        connections.close_all()
