"""Every test here starts commands."""

import pytest


@pytest.fixture(autouse=True)
def commands(bubblewrap: None) -> None:
    """The sandbox is made of it."""
