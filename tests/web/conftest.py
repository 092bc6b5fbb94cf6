"""The scene and signed-in browsers without a browser."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests.cast import Person
from tests.web.scene import scene

__all__ = ["scene"]


@pytest.fixture
def browse() -> Callable[[Person], Client]:
    """A client that is signed in as somebody."""
    return Person.signed_in
