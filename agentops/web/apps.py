"""Django app configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "agentops.web"
    label = "web"
