"""The hook through which `up` makes the demo; nothing of the product depends on it, so it is found by name."""

import time
import urllib.error
import urllib.request
from importlib import import_module
from pathlib import Path

from django.apps import apps

_PATIENCE_SECONDS = 60


def seed_demo(home: Path, url: str) -> None:
    """Call demo.seed.seed, which may be called at every start, as soon as its ledger can be reached over HTTP."""
    if apps.is_installed("demo"):
        seed = import_module("demo.seed").seed
        _wait_for(f"{url}/healthz")
        seed(home, url)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=2).close()  # noqa: S310 - our own address
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
