"""For tests that start commands: what they need of the machine."""

import pytest

from tests.missing import not_here
from tools.sandbox.level import ISOLATED, level


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """A machine on which commands are isolated; where they are not, there is nothing to test."""
    if (found := level()).number < ISOLATED:
        not_here(found.fault)
