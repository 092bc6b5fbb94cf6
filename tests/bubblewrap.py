"""For tests that start commands: what they need of the machine."""

import shutil

import pytest

from tests.missing import not_here


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Without it there is nothing to test; a machine that has it and refuses it fails the tests."""
    if shutil.which("bwrap") is None:
        not_here("bubblewrap is not installed")
