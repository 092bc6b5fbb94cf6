"""Postgres runs and takes nothing: its disk is full, its connections are used up, or it does not answer."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import httpx2
import psutil

from tests.faults.cluster import Cluster

type Shut = Callable[[Cluster], AbstractContextManager[Callable[[], bool]]]
"""A way to shut it; what the block is given tells whether the product has felt it."""

# What a statement of the product meets when a file cannot grow. The sequence moves in spite of the rollback.
_FILL = """
CREATE SEQUENCE refused;
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    IF NEW.kind = 'step.succeeded' THEN PERFORM nextval('public.refused'); END IF;
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON runs_event FOR EACH ROW EXECUTE FUNCTION no_room();
"""


@contextmanager
def without_room(cluster: Cluster) -> Iterator[Callable[[], bool]]:
    """No event can be written, so nothing can change."""
    cluster.sql(_FILL)
    try:
        yield lambda: cluster.sql("SELECT is_called FROM refused")[0][0]
    finally:
        cluster.sql("DROP FUNCTION no_room CASCADE; DROP SEQUENCE refused")


@contextmanager
def without_connections(cluster: Cluster) -> Iterator[Callable[[], bool]]:
    """Those that were open are cut, and there are no others."""
    cluster.sql("ALTER ROLE agentops_app CONNECTION LIMIT 0")
    try:
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agentops_app'")
        yield lambda: not _answers(cluster)
    finally:
        cluster.sql("ALTER ROLE agentops_app CONNECTION LIMIT -1")


@contextmanager
def silent(cluster: Cluster) -> Iterator[Callable[[], bool]]:
    """Alive, and answers nobody."""
    server = psutil.Process(int((cluster.postgres.data / "postmaster.pid").read_text().split()[0]))
    server.suspend()
    backends = server.children()
    try:
        for backend in backends:
            with suppress(psutil.NoSuchProcess):
                backend.suspend()
        yield lambda: not _answers(cluster)
    finally:
        for process in (*backends, server):
            with suppress(psutil.NoSuchProcess):
                process.resume()


def _answers(cluster: Cluster) -> bool:
    try:
        return httpx2.get(f"{cluster.url}/readyz", timeout=1).status_code == httpx2.codes.OK
    except httpx2.HTTPError:
        return False
