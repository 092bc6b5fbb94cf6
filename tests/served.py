"""The product in a process of its own, over real sockets."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.up import free_port

STARTS_IN = 120.0


class Served:
    """The product in a process of its own; it can be taken away and brought back."""

    def __init__(self, application: str) -> None:
        self.application = application
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, and return once it answers."""
        address = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "error"]
        command = [sys.executable, "-m", "uvicorn", self.application, *address]
        self.process = subprocess.Popen(command)
        limit = time.monotonic() + STARTS_IN
        while not self._answers():
            assert time.monotonic() < limit
            assert self.process.poll() is None
            time.sleep(0.05)

    def stop(self) -> None:
        """Close every connection and stop listening."""
        self.process.kill()
        self.process.wait()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Nothing answers in the block; after it, however that ends, something does again."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def serving(application: str = "agentops.asgi:application") -> Iterator[Served]:
    """One such process, until the block ends."""
    product = Served(application)
    try:
        product.start()
        yield product
    finally:
        product.stop()


@pytest.fixture(scope="session")
def served(database: None) -> Iterator[Served]:
    """The product, served for the session."""
    with serving() as product:
        yield product
