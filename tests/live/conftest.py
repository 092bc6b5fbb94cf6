"""A real server, and sockets of signed-in people."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from django.conf import settings
from django.test import Client
from websockets.sync.client import ClientConnection, connect

from tests.cast import PASSWORD, Person
from tests.served import Served

type Listen = Callable[..., ClientConnection]


@pytest.fixture
def sign_in() -> Callable[[Person], Client]:
    """A client with a session that was made as people make theirs."""

    def signed_in(person: Person) -> Client:
        client = Client()
        client.post("/account/login/", {"login": person.user.email, "password": PASSWORD})
        assert settings.SESSION_COOKIE_NAME in client.cookies
        return client

    return signed_in


@pytest.fixture
def listen(served: Served) -> Iterator[Listen]:
    """Open a socket with a client's session; all are closed at the end."""
    with ExitStack() as opened:

        def listening(client: Client | None = None, *, origin: str | None = served.url) -> ClientConnection:
            cookie = client.cookies[settings.SESSION_COOKIE_NAME].OutputString(attrs=[]) if client else "x=y"
            headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
            address = f"{served.url.replace('http', 'ws')}/ws"
            return opened.enter_context(connect(address, additional_headers=headers, open_timeout=60))

        yield listening
