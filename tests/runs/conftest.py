"""Fixtures of the engine's tests."""

import pytest

from tests.cast import Cast
from tests.runs.scenario import Stage, new_stage


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)
