"""The product in a process of its own, over real sockets."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

STARTS_IN = 120.0


class Served:
    """The product in a process of its own; it can be taken away and brought back."""

    def __init__(self, application: str = "agentops.asgi:application") -> None:
        self.application = application
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
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

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture(scope="session")
def served(database: None) -> Iterator[Served]:
    """The product, served for the session."""
    product = Served()
    try:
        product.start()
        yield product
    finally:
        product.stop()
