"""Where websockets go."""

from typing import Any

from django.urls import path

from agentops.live.consumer import LiveConsumer

websocket_urlpatterns: list[Any] = [path("ws", LiveConsumer.as_asgi())]
