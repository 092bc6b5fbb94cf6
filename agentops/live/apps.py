"""Django app configuration."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "agentops.live"
    label = "live"
