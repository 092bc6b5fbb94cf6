"""Fixtures of the engine's tests."""

import pytest

from tests.cast import Cast
from tests.runs.letters import OFFICES, Office
from tests.runs.scenario import Stage, new_stage
from tools.operations import install_code_tools


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)


@pytest.fixture
def office(stage: Stage) -> Office:
    install_code_tools(stage.tenant_id, ("u_sent", "u_send", "u_send_native"))
    OFFICES.clear()
    OFFICES[stage.account] = Office()
    return OFFICES[stage.account]
