"""The root ASGI callable: lifespan, websockets to Channels, MCP to its door, everything else to Django."""

import os
from typing import Any

from asgiref.sync import sync_to_async
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
_django = get_asgi_application()

# Django must be set up before these are imported.
from django.db import connections  # noqa: E402
from kombu import pools  # noqa: E402

from agentops.health import refuse_unsafe_start  # noqa: E402
from agentops.live.routing import websocket_urlpatterns  # noqa: E402
from agentops.mcp import mount as mcp  # noqa: E402
from agentops.mcp.admission import is_ours  # noqa: E402
from agentops.telemetry.traces import traces  # noqa: E402
from agentops.telling import teller  # noqa: E402

_websockets = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter([*websocket_urlpatterns])))
_routes = ProtocolTypeRouter({"http": _django, "websocket": _websockets})


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Serve one connection, or the life of the process."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "http" and is_ours(scope["path"]):
        await mcp.door(scope, receive, send)
    else:
        route: Any = _routes
        await route(scope, receive, send)


async def _live(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    await receive()
    await sync_to_async(refuse_unsafe_start)()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await mcp.close()
    await sync_to_async(_close_pools)()
    await send({"type": "lifespan.shutdown.complete"})


def _close_pools() -> None:
    # Otherwise the exit waits five seconds for the pools' threads.
    teller.finish()
    traces.finish()
    pools.reset()
    connections.close_all()
    connections["default"].close_pool()  # type: ignore[attr-defined]  # the Postgres wrapper has it
