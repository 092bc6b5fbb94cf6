"""One cluster for the short selection of the fault tests."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster
from tests.faults.scenes import Stage
from tests.missing import not_here


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Real processes, with Redis."""
    if shutil.which("redis-server") is None:
        not_here("redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="agentops-faults-") as folder:
        Path(folder).chmod(0o755)
        running = Cluster(Path(folder))
        try:
            running.start()
            yield running
        finally:
            running.stop()


@pytest.fixture(scope="session")
def stage(cluster: Cluster) -> Iterator[Stage]:
    """The cluster with its people."""
    made = Stage(cluster)
    yield made
    made.close()
