"""The contract of state stores, kept by each of them."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import OperationalError, connections
from django.utils import timezone
from pytest_django import Settings

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast
from tests.missing import not_here
from tests.up import free_port
from tools.domain.errors import StateMoved
from tools.workflow_changes import install_workflow
from tools.workflow_stores import StateStore, store_of
from tools.workflow_stores.redis import _client

MACHINE = {"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}}}


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """A Redis of this module's own."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    try:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        not_here("redis-server was not found")
    assert server.stdout is not None
    assert any("Ready to accept connections" in line for line in server.stdout)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(10)
    server.stdout.close()


class Kept:
    """A store of one workflow, and how to be in its tenant."""

    def __init__(self, tenant_id: UUID, workflow_id: UUID) -> None:
        self.tenant_id, self.workflow_id = tenant_id, workflow_id

    def inside(self) -> AbstractContextManager[None]:
        return tenant_transaction(self.tenant_id)

    def store(self) -> StateStore:
        return store_of(self.tenant_id, self.workflow_id)


@pytest.fixture(params=["postgres", "redis", "memory"])
def kept(request: pytest.FixtureRequest, cast: Cast, settings: Settings) -> Iterator[Kept]:
    settings.AGENTOPS_WORKFLOW_STORE = request.param
    if request.param == "redis":
        settings.AGENTOPS_REDIS_URL = request.getfixturevalue("redis_url")
    version = install_workflow(cast.tenant.id, {"name": "w", "machine": MACHINE})
    _client.cache_clear()
    yield Kept(cast.tenant.id, version.workflow_id)
    _client.cache_clear()


def test_a_handle_that_was_never_saved_stands_nowhere(kept: Kept) -> None:
    with kept.inside():
        assert kept.store().load("h:1") is None


def test_each_save_is_one_revision_and_says_when(kept: Kept) -> None:
    with kept.inside():
        kept.store().save("h:1", "a", 0)
        kept.store().save("h:1", "b", 1)
        kept.store().save("h:2", "a", 0)
    with kept.inside():
        found = kept.store().load("h:1")
    assert found is not None
    assert (found.state, found.revision) == ("b", 2)
    assert abs(found.updated_at - timezone.now()) < timedelta(minutes=1)


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_save_from_another_revision_is_refused_and_changes_nothing(kept: Kept, expected: int) -> None:
    with kept.inside():
        kept.store().save("h:1", "a", 0)
        kept.store().save("h:1", "b", 1)
        with pytest.raises(StateMoved):
            kept.store().save("h:1", "a", expected)
        found = kept.store().load("h:1")
    assert found is not None
    assert (found.state, found.revision) == ("b", 2)


def test_a_new_handle_begins_at_no_revision_but_zero(kept: Kept) -> None:
    with kept.inside(), pytest.raises(StateMoved):
        kept.store().save("h:1", "a", 1)


def test_of_many_saves_at_once_one_wins(kept: Kept) -> None:
    with kept.inside():
        kept.store().save("h:1", "a", 0)

    def move(_: int) -> bool:
        try:
            with kept.inside():
                kept.store().save("h:1", "b", 1)
        except StateMoved:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(move, range(4))) == [False, False, False, True]


def test_another_workflow_or_tenant_has_handles_of_its_own(kept: Kept, cast: Cast) -> None:
    with kept.inside():
        kept.store().save("h:1", "a", 0)
        assert store_of(kept.tenant_id, uuid7()).load("h:1") is None
    with tenant_transaction(cast.other_tenant.id):
        assert store_of(cast.other_tenant.id, kept.workflow_id).load("h:1") is None


def test_a_redis_that_is_away_is_told_as_a_database_that_is_away(settings: Settings) -> None:
    settings.AGENTOPS_WORKFLOW_STORE = "redis"
    settings.AGENTOPS_REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    _client.cache_clear()
    with pytest.raises(OperationalError):
        store_of(uuid7(), uuid7()).load("h:1")
    with pytest.raises(OperationalError):
        store_of(uuid7(), uuid7()).save("h:1", "a", 0)
    _client.cache_clear()
