"""What tests of tools share."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from tests.tools.server import Server


@pytest.fixture
def reachable(settings: Settings) -> Callable[[Server], None]:
    """Put a server on the operator's list of private hosts, as an operator would."""

    def allow(server: Server) -> None:
        settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = server.host

    return allow
