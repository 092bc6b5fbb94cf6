"""Outside agents that find the served product."""

from collections.abc import Callable, Iterator

import httpx2
import pytest

from tests.oauth.party import Outside
from tests.served import Served


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    """Anybody."""
    with httpx2.Client(base_url=served.url, timeout=60) as client:
        yield client


@pytest.fixture
def agent(served: Served) -> Outside:
    """One agent that introduced itself."""
    return Outside(served.url)


@pytest.fixture
def another(served: Served) -> Callable[..., Outside]:
    """More of them."""
    return lambda **said: Outside(served.url, **said)
