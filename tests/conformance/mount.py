"""An ASGI root with nothing but our door in front of the suite's fixtures; anybody may come in."""

import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
django.setup()

# Django must be set up before these are imported.
from mcp_types import SetLevelRequestParams  # noqa: E402

from agentops.mcp.assembly import served  # noqa: E402
from agentops.mcp.bearer import Bearer  # noqa: E402
from agentops.mcp.door import Door  # noqa: E402
from agentops.mcp.life import Life  # noqa: E402
from agentops.mcp.visit import Visit  # noqa: E402
from agentops.tenancy.actor import Actor  # noqa: E402
from agentops.tenancy.ids import uuid7  # noqa: E402
from tests.conformance.server import acknowledge, fixtures  # noqa: E402

_NOBODY = Actor(
    uuid7(), "key", None, None, None, frozenset(), frozenset(), label="suite", principal="suite", door="mcp"
)


class Sessions(Door):
    """The handshake era's requests from server to client, which the suite asks for, need sessions."""

    methods = ("POST", "GET", "DELETE")


async def _anybody(path: str, headers: dict[str, str], origin: str) -> Visit:
    return Visit(token="", resource=origin + path, bearer=Bearer(_NOBODY, "suite"))


async def _as_it_is(visit: Visit) -> Visit:
    return visit


def _assemble() -> Any:
    server = fixtures()
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, acknowledge)
    return served(server, sessions=True)


_life = Life(_assemble)
_door = Sessions(_life, _anybody, _as_it_is)


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Serve one request, or the life of the process."""
    if scope["type"] != "lifespan":
        await _door(scope, receive, send)
        return
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await _life.end()
    await send({"type": "lifespan.shutdown.complete"})
