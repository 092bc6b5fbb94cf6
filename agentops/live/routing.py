"""Where websockets go."""

from typing import Any

from django.urls import path

from agentops.live.consumer import LiveConsumer

_consumer: Any = LiveConsumer.as_asgi()
websocket_urlpatterns: list[Any] = [path("ws", _consumer)]
